// Words in the reader's language. The catalogue is a script of the server's that stands before the modules.
const catalogue = () => globalThis.django;

export const gettext = (text) => catalogue()?.gettext?.(text) ?? text;

export const ngettext = (one, many, count) => catalogue()?.ngettext?.(one, many, count) ?? (count === 1 ? one : many);

/** Put values into `%(name)s`. */
export const fill = (text, values) =>
  text.replace(/%\((\w+)\)s/g, (whole, name) => (name in values ? String(values[name]) : whole));
