// Bytes to messages: JSON, or JSON that was deflated once for all browsers. JSON begins with `{`, deflated never does.
const BRACE = 0x7b;

export async function decode(buffer) {
  const bytes = new Uint8Array(buffer);
  if (bytes[0] === BRACE) return JSON.parse(new TextDecoder().decode(bytes));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(inflated).text());
}
