import type { CorsRule } from '@granary/storage/object-store';

export interface CorsRequest {
  readonly origin: string;
  readonly method: string;
  /** Names a preflight asks about; none for the request itself. */
  readonly headers: readonly string[];
}

/** More than any page sends. The request is not authenticated, and each name is compared with every pattern of every rule. */
const NAMES_MAX = 64;

/** The first rule that allows all of a request; rules after it are not looked at. */
export function corsRuleFor(rules: readonly CorsRule[], request: CorsRequest): CorsRule | undefined {
  const names = new Set(request.headers.map((name) => name.toLowerCase()));
  if (names.size > NAMES_MAX) return undefined;
  return rules.find(
    (rule) =>
      rule.methods.includes(request.method) &&
      rule.origins.some((pattern) => matches(patternOf(pattern), request.origin)) &&
      allowsAll(rule.headers ?? [], names),
  );
}

function allowsAll(allowed: readonly string[], names: ReadonlySet<string>): boolean {
  if (names.size === 0 || allowed.includes('*')) return true;
  const patterns = allowed.map((text) => patternOf(text.toLowerCase()));
  return [...names].every((name) => patterns.some((pattern) => matches(pattern, name)));
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

interface StarPattern {
  readonly before: string;
  /** Undefined where there is no star. */
  readonly after: string | undefined;
}

/** At most one `*` in a pattern, which stands for anything. */
function patternOf(text: string): StarPattern {
  const star = text.indexOf('*');
  return star < 0 ? { before: text, after: undefined } : { before: text.slice(0, star), after: text.slice(star + 1) };
}

function matches({ before, after }: StarPattern, text: string): boolean {
  if (after === undefined) return before === text;
  return text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
}
