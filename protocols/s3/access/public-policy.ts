import type { Statement } from './policy-document.ts';
import { isPrincipal } from './principals.ts';

/** Whether a caller of any account could meet a statement that allows. */
export function isPublicPolicy(statements: readonly Statement[]): boolean {
  return statements.some(
    ({ deny, principals, limited }) =>
      !deny && !limited && principals.list.some((principal) => isPrincipal(principal, null)) !== principals.except,
  );
}
