import { setImmediate as turn } from 'node:timers/promises';
import type { ListedFile } from '../../engine/shares.ts';
import { compileCriteria } from '../criteria/compile.ts';
import type { CriteriaContext } from '../criteria/fields.ts';
import { CriteriaProblem } from '../criteria/operands.ts';
import { pathFilter } from '../criteria/paths.ts';
import type { ActiveRule } from '../policies/repository.ts';

/** A policy of a share, ready to be asked about files. */
export interface RunningRule extends ActiveRule {
  readonly matches: (file: ListedFile) => boolean;
}

export interface Match {
  readonly rule: RunningRule;
  readonly file: ListedFile;
}

/** So long others wait at most. */
const STEP_MS_MAX = 8;
const FILES_BETWEEN_LOOKS = 64;

/** Throws a `CriteriaProblem` for criteria that name what is not there any more. */
function prepareRule(row: ActiveRule, context: CriteriaContext): RunningRule {
  const isWanted = compileCriteria(JSON.parse(row.criteria), context);
  const isInPlace = pathFilter({ whitelist: listOf(row.whitelist), blacklist: listOf(row.blacklist) });
  const isArchive = row.action === 'archive';
  return {
    ...row,
    matches: (file) => {
      // What is archived already, or has nothing in it, is left to the policies that come after.
      if (isArchive && (file.isArchived || file.sizeBytes === 0)) return false;
      return isInPlace(file.path) && isWanted(file);
    },
  };
}

/** Those that can run, and why the others cannot. */
export function prepareRules(rows: readonly ActiveRule[], context: CriteriaContext) {
  const rules: RunningRule[] = [];
  const refused: { readonly rule: string; readonly problem: string }[] = [];
  for (const row of rows) {
    try {
      rules.push(prepareRule(row, context));
    } catch (error) {
      if (!(error instanceof CriteriaProblem)) throw error;
      refused.push({ rule: row.rule, problem: `Its file_selection_criteria ${error.message}.` });
    }
  }
  return { rules, refused };
}

/** Each file is for the first rule that it matches. In steps, between which others get their turn. */
export async function matchFiles(files: readonly ListedFile[], rules: readonly RunningRule[]): Promise<Match[]> {
  const matches: Match[] = [];
  let since = performance.now();
  for (const [index, file] of files.entries()) {
    if (index % FILES_BETWEEN_LOOKS === 0 && performance.now() - since > STEP_MS_MAX) {
      await turn();
      since = performance.now();
    }
    const rule = rules.find((each) => each.matches(file));
    if (rule) matches.push({ rule, file });
  }
  return matches;
}

function listOf(json: string | null): string[] | null {
  return json === null ? null : (JSON.parse(json) as string[]);
}
