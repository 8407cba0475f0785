/**
 * Which addresses of a host notifications may be posted to, as the operator allows: `host` and `*.domain` open all that the
 * name leads to, `*` public addresses of any host.
 */
export function allowedReach(allowed: readonly string[], host: string): 'any' | 'public' | 'none' {
  const name = host.toLowerCase();
  const isNamed = (each: string) => each === name || (each.startsWith('*.') && name.endsWith(each.slice(1)));
  if (allowed.some(isNamed)) return 'any';
  return allowed.includes('*') ? 'public' : 'none';
}
