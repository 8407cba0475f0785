/** Forms that other programs read. The libraries are loaded only where one of them is asked for. */

/** Plain words stay plain, also for readers of YAML 1.1, which take `yes` for a boolean. */
export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
}

/** RFC 4180: values as the API gave them, nested ones as JSON. */
export async function csvText(titles: readonly string[], rows: readonly (readonly unknown[])[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  const cast = { boolean: String, number: plainDecimal };
  return stringify(
    [titles, ...rows].map((row) => [...row]),
    { cast },
  ).trimEnd();
}

/** Without an exponent: spreadsheets of some languages take `1e-7` for a text. */
function plainDecimal(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 }) : text;
}
