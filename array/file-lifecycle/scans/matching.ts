import { setImmediate as turn } from 'node:timers/promises';
import type { ListedFile } from '../../engine/shares.ts';
import { compileCriteria } from '../criteria/compile.ts';
import type { CriteriaContext } from '../criteria/fields.ts';
import { CriteriaProblem } from '../criteria/operands.ts';
import { pathFilter } from '../criteria/paths.ts';
import type { ActiveRule } from '../policies/policy.ts';
import { batchesOf } from '../at-once.ts';

/** A policy of a share, ready to be asked about files. */
export interface RunningRule extends ActiveRule {
  readonly matches: (file: ListedFile) => boolean;
}

export interface Match {
  readonly rule: RunningRule;
  readonly file: ListedFile;
}

/** Files matched before the event loop runs other work. */
const FILES_PER_TURN = 64;

/** Throws a `CriteriaProblem` for criteria that name what is not there any more. */
function prepareRule(rule: ActiveRule, context: CriteriaContext): RunningRule {
  const isWanted = compileCriteria(JSON.parse(rule.criteria), context);
  const isInPlace = pathFilter(rule);
  const isArchive = rule.action === 'archive';
  return {
    ...rule,
    matches: (file) => {
      // What is archived already, or has nothing in it, is left to the policies that come after.
      if (isArchive && (file.isArchived || file.sizeBytes === 0)) return false;
      return isInPlace(file.path) && isWanted(file);
    },
  };
}

/** Those that can run, and why the others cannot. */
export function prepareRules(active: readonly ActiveRule[], context: CriteriaContext) {
  const rules: RunningRule[] = [];
  const refused: { readonly rule: string; readonly problem: string }[] = [];
  for (const rule of active) {
    try {
      rules.push(prepareRule(rule, context));
    } catch (error) {
      if (!(error instanceof CriteriaProblem)) throw error;
      refused.push({ rule: rule.rule, problem: `Its file_selection_criteria ${error.message}.` });
    }
  }
  return { rules, refused };
}

/** Each file is for the first rule that it matches. */
export async function matchFiles(
  files: readonly ListedFile[],
  rules: readonly RunningRule[],
  letOthers: () => Promise<unknown> = turn,
): Promise<Match[]> {
  const matches: Match[] = [];
  for (const some of batchesOf(files, FILES_PER_TURN)) {
    for (const file of some) {
      const rule = rules.find((each) => each.matches(file));
      if (rule) matches.push({ rule, file });
    }
    await letOthers();
  }
  return matches;
}
