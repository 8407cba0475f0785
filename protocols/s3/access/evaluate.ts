import type { Caller } from '../../objects/context.ts';
import { type Lookup, type Pattern, TooManySteps, withinSteps } from './pattern.ts';
import { type Named, readPolicy, type Statement } from './policy-document.ts';
import { isPrincipal } from './principals.ts';
import { isPublicPolicy } from './public-policy.ts';

const POLICIES_MAX = 1024;
/** About a millisecond. A policy of the largest size with ordinary patterns takes a tenth of it. */
const STEPS_MAX = 200_000;

export interface Asked {
  readonly caller: Caller | null;
  /** `s3:GetObject`. */
  readonly action: string;
  /** `bucket`, or `bucket/key`. */
  readonly resource: string;
  readonly lookup: Lookup;
}

export type Verdict = 'allow' | 'deny' | 'silent';

/**
 * What a policy says: one statement that denies outweighs all that allow. One that takes too long to say it denies: the
 * thread serves others, too, and whether it would have denied is not known.
 */
export function evaluate(statements: readonly Statement[], asked: Asked): Verdict {
  try {
    return withinSteps(STEPS_MAX, () => verdictOf(statements, asked));
  } catch (error) {
    if (error instanceof TooManySteps) return 'deny';
    throw error;
  }
}

function verdictOf(statements: readonly Statement[], asked: Asked): Verdict {
  let verdict: Verdict = 'silent';
  for (const statement of statements) {
    if (!applies(statement, asked)) continue;
    if (statement.deny) return 'deny';
    verdict = 'allow';
  }
  return verdict;
}

function applies(statement: Statement, { caller, action, resource, lookup }: Asked): boolean {
  const { principals, actions, resources, conditions } = statement;
  const whom = principals.list.some((each) => isPrincipal(each, caller)) !== principals.except;
  return (
    whom &&
    includes(actions, action, lookup, true) &&
    includes(resources, resource, lookup) &&
    conditions.every((condition) => condition(lookup))
  );
}

function includes(patterns: Named<Pattern>, text: string, lookup: Lookup, ignoreCase = false): boolean {
  return patterns.list.some((each) => each.matches(text, lookup, ignoreCase)) !== patterns.except;
}

/** Policies are put seldom and asked for all the time. */
export class BucketPolicies {
  readonly #read = new Map<string, readonly Statement[]>();

  of(text: string, bucket: string): readonly Statement[] {
    const name = `${bucket}\n${text}`;
    const known = this.#read.get(name);
    if (known) return known;
    const statements = readPolicy(text, bucket);
    if (this.#read.size >= POLICIES_MAX) this.#read.clear();
    this.#read.set(name, statements);
    return statements;
  }

  /** Whether a policy opens something to callers of whatever account. */
  isPublic(text: string, bucket: string): boolean {
    return isPublicPolicy(this.of(text, bucket));
  }
}
