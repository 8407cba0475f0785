import { dropWhatIsKept } from './leaving.ts';

let csrfToken: string | undefined;

/** The token that every change carries; known from sign-in on. Another one, or none, is another session. */
export function setCsrfToken(token: string | undefined): void {
  const before = csrfToken;
  csrfToken = token;
  if (before !== undefined && before !== token) dropWhatIsKept();
}

export function csrfHeaders(): Record<string, string> {
  return csrfToken === undefined ? {} : { 'x-csrf-token': csrfToken };
}

/** Whether the session is still the one of now: work that takes many calls stops when another person may be there. */
export function sameSession(): () => boolean {
  const token = csrfToken;
  return () => csrfToken === token;
}
