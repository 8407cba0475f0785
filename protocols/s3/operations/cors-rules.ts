import type { CorsRule } from '@granary/storage/objects';

export interface CorsRequest {
  readonly origin: string;
  readonly method: string;
  /** Names a preflight asks about; none for the request itself. */
  readonly headers: readonly string[];
}

/** The first rule that allows all of a request; rules after it are not looked at. */
export function corsRuleFor(rules: readonly CorsRule[], request: CorsRequest): CorsRule | undefined {
  return rules.find(
    (rule) =>
      rule.origins.some((pattern) => matches(pattern, request.origin)) &&
      rule.methods.includes(request.method) &&
      request.headers.every((name) => (rule.headers ?? []).some((pattern) => matches(pattern, name, true))),
  );
}

/** Headers that tell a browser what a rule allows. */
export function corsHeaders(rule: CorsRule, request: CorsRequest): Record<string, string> {
  const anyOrigin = rule.origins.includes('*');
  return {
    'access-control-allow-origin': anyOrigin ? '*' : request.origin,
    'access-control-allow-methods': rule.methods.join(', '),
    ...(request.headers.length > 0 && {
      'access-control-allow-headers': request.headers.map((name) => name.toLowerCase()).join(', '),
    }),
    ...(rule.expose !== undefined &&
      rule.expose.length > 0 && { 'access-control-expose-headers': rule.expose.join(', ') }),
    ...(rule.maxAgeSeconds !== undefined && { 'access-control-max-age': String(rule.maxAgeSeconds) }),
    ...(!anyOrigin && { 'access-control-allow-credentials': 'true' }),
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  };
}

/** At most one `*` in a pattern, which stands for anything. */
function matches(pattern: string, text: string, ignoreCase = false): boolean {
  const [a, b] = ignoreCase ? [pattern.toLowerCase(), text.toLowerCase()] : [pattern, text];
  const star = a.indexOf('*');
  if (star < 0) return a === b;
  const [before, after] = [a.slice(0, star), a.slice(star + 1)];
  return b.length >= before.length + after.length && b.startsWith(before) && b.endsWith(after);
}
