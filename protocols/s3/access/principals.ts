import type { Caller } from '../../objects/context.ts';

/** Everyone, all users of an account, or one of them. */
export interface Principal {
  readonly account?: string;
  readonly username?: string;
}

const ACCOUNT = /^[0-9a-f]{32}$/;
const ARN = /^arn:aws:iam::([0-9a-f]{32}):(?:root|user\/([^*?]+))$/;

/** `"*"`, or `{"AWS": …}` with `*`, account ids, `arn:aws:iam::<account>:root` and `arn:aws:iam::<account>:user/<name>`. */
export function readPrincipals(value: unknown, complain: (message: string) => Error): Principal[] {
  if (value === '*') return [{}];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw complain('Principal must be "*" or an object with AWS.');
  }
  const entries = Object.entries(value);
  if (entries.length === 0) throw complain('Principal must be "*" or an object with AWS.');
  return entries.flatMap(([kind, names]) => {
    if (kind !== 'AWS' && kind !== 'CanonicalUser')
      throw complain(`Principals of kind ${kind.slice(0, 64)} do not exist here.`);
    const list: unknown[] = Array.isArray(names) ? names : [names];
    return list.map((name) => readPrincipal(name, complain));
  });
}

function readPrincipal(name: unknown, complain: (message: string) => Error): Principal {
  if (name === '*') return {};
  if (typeof name !== 'string') throw complain('Principals must be texts.');
  if (ACCOUNT.test(name)) return { account: name };
  const [, account, username] = ARN.exec(name) ?? [];
  if (account === undefined) {
    throw complain(
      `'${name.slice(0, 128)}' is no principal: use an account id, arn:aws:iam::<account id>:root or :user/<name>.`,
    );
  }
  return username === undefined ? { account } : { account, username };
}

export function isPrincipal(principal: Principal, caller: Caller | null): boolean {
  if (principal.account === undefined) return true;
  if (caller?.account !== principal.account) return false;
  return principal.username === undefined || principal.username === caller.username;
}
