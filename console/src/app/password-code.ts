import { ApiError } from '@granary/client/errors';

/*
 * How a user of object storage gets in for the first time, or after the password was forgotten. Plain requests, as those of
 * sessions: the sign-in page loads no API.
 */

export interface PasswordByCode {
  readonly account: string;
  readonly username: string;
  readonly code: string;
  readonly password: string;
}

/** Spends the code of an administrator, or of a mail. */
export function setPasswordByCode({ account, username, code, password }: PasswordByCode): Promise<void> {
  const path = `/api/users/${encodeURIComponent(username)}/password_code`;
  return post(path, { account, code, new_password: password });
}

/**
 * Sets the password, then signs in with it. A code works once: where the password was set and signing in alone failed, as
 * over a connection that was lost, the same again only signs in.
 */
export function enteringByCode() {
  let spent: PasswordByCode | undefined;
  return async (typed: PasswordByCode, enter: (credentials: Omit<PasswordByCode, 'code'>) => Promise<void>) => {
    const { code: _, ...credentials } = typed;
    if (!isSame(typed, spent)) await setPasswordByCode(typed);
    spent = typed;
    await enter(credentials);
  };
}

function isSame(one: PasswordByCode, other: PasswordByCode | undefined): boolean {
  return (['account', 'username', 'code', 'password'] as const).every((name) => one[name] === other?.[name]);
}

/** The service does not say whether there is such a user. */
export function mailPasswordCode(who: Pick<PasswordByCode, 'account' | 'username'>): Promise<void> {
  return post('/api/users/reset_password', who);
}

async function post(path: string, body: object): Promise<void> {
  const answer = await fetch(path, {
    method: 'POST',
    credentials: 'omit',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await answer.json()) as Record<string, unknown>;
  const inner = (json['response'] ?? json) as Record<string, unknown>;
  const status = Number(inner['status'] ?? 0) || (answer.ok ? 0 : answer.status);
  if (status === 0) return;
  const message = inner['message'] ?? inner['status_msg'];
  throw new ApiError(status, typeof message === 'string' ? message : `HTTP ${answer.status}`);
}
