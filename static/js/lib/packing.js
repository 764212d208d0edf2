// Sets of numbers as runs, `skip, take, skip, take, ...`, as `live/runs.js` reads them. Pure.
export function pack(numbers) {
  const runs = [];
  let end = 0;
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    if (runs.length && number === end) runs[runs.length - 1]++;
    else runs.push(number - end, 1);
    end = number + 1;
  }
  return runs;
}
