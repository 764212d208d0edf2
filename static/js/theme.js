// Runs before the first paint: the theme is the one in the URL, else the one that was chosen, else the system's.
{
  const asked = new URLSearchParams(location.search).get("theme");
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // storage is switched off: the system's theme it is
  }
  const theme = ["light", "dark"].includes(asked) ? asked : chosen;
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
