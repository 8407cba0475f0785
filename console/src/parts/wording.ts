/** `or use force=YES`: a way out that the API offers. */
const WAY_OUT = /,? or (?:use|with|by) ([a-z]\w*)=(?:YES|true)\b/g;
/** `force=YES`: a choice of a form. */
const SWITCH = /\b([a-z]\w*)=(YES|NO|true|false)\b/g;
/** `admin_key`: as the API spells it. */
const PARAMETER = /(?<![\w{/<.“-])[a-z]+(?:_[a-z0-9]+)+(?![\w}>=”-])/g;
/** Names without a line that are no words either. */
const RUN_TOGETHER =
  /(?<![\w“./-])(?:iqn|iscsi|(?:array|host)chap(?:user|secret)|migratesnap|cowcache|poolname)(?![\w”./-])/g;

/** The APIs call 2^30 bytes a GB; the console calls them a GiB, in all that is read. */
export function inBinaryUnits(text: string): string {
  return text.replace(/\b([KMGTP])B\b/g, '$1iB');
}

export interface FormWords {
  /** What the form calls a parameter; undefined for one that it does not have. */
  readonly labelOf: (name: string) => string | undefined;
}

/** A message of a service in the words of a form: parameters have the names of their fields. */
export function inLabels(message: string, { labelOf }: FormWords): string {
  const named = (name: string) => {
    const label = labelOf(name);
    return label === undefined ? name : `“${label}”`;
  };
  return (
    inBinaryUnits(message)
      // What the form does not offer is no way out of it.
      .replace(WAY_OUT, (text, name: string) => (labelOf(name) === undefined ? '' : text))
      .replace(SWITCH, (text, name: string, value: string) => {
        if (labelOf(name) === undefined) return text;
        return /^(?:NO|false)$/.test(value) ? `${named(name)} set to No` : named(name);
      })
      .replace(PARAMETER, named)
      .replace(RUN_TOGETHER, named)
  );
}
