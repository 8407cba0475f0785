import type { Store } from '@granary/kernel';
import { RECYCLE_BIN, type ListedFile, type ShareEngine } from '../../engine/shares.ts';
import { EngineError, isEngineError } from '../../engine/errors.ts';
import type { Volume } from '../../volumes/volume.ts';
import type { FileArchiver, Reservation } from '../archive/file-archiver.ts';
import type { CriteriaContext } from '../criteria/fields.ts';
import type { ActiveRule } from '../policies/policy.ts';
import { beginRun, findActiveRules, isStillActive, saveFigures, findRuleByName } from '../policies/repository.ts';
import { eachAtOnce } from '../at-once.ts';
import { ScanFigures, type FileOutcome } from '../figures.ts';
import { matchFiles, prepareRules, type Match, type RunningRule } from './matching.ts';
import { saveScan } from './repository.ts';
import type { ScanState } from './scanned-share.ts';

export interface ScanTools {
  readonly store: Store;
  readonly engine: Pick<ShareEngine, 'listFiles' | 'expireFile'>;
  readonly archives: FileArchiver;
  readonly context: (nowMs: number) => CriteriaContext;
}

const PAGE_FILES = 2_000;
/** Files handled before clients of the share and of the array get their turn. */
const LISTED_AT_ONCE = 250;
const ACTIONS_AT_ONCE = 8;
/** A destination that does not answer is not tried for each of a million files. */
const FAILURES_IN_A_ROW_MAX = 16;

/**
 * Looks through all files of one snapshot of a share, in the order of their numbers, and does what its policies say. How
 * far it is stands on record after every page; a page that a crash cut off is done again: what was archived by then is
 * listed as archived, what expired is not listed any more.
 */
export class ShareScan {
  readonly #tools: ScanTools;
  readonly #share: Volume;
  readonly #snapshot: string;
  readonly #signal: AbortSignal;
  readonly #figures = new Map<string, ScanFigures>();
  readonly #begunAt = performance.now();
  readonly #first: ScanState;
  #state: ScanState;

  constructor(
    tools: ScanTools,
    options: {
      readonly share: Volume;
      readonly snapshot: string;
      readonly state: ScanState;
      readonly signal: AbortSignal;
    },
  ) {
    this.#tools = tools;
    this.#share = options.share;
    this.#snapshot = options.snapshot;
    this.#signal = options.signal;
    this.#first = options.state;
    this.#state = options.state;
  }

  get state(): ScanState {
    return { ...this.#state, spentMs: this.#first.spentMs + (performance.now() - this.#begunAt) };
  }

  /** Resolves at its end; rejects when the signal was aborted, with its place on record. */
  async run(): Promise<void> {
    // So that a run of an empty share is a run, too.
    await this.#rules();
    let coming = this.#list(this.#state.afterInode);
    for (;;) {
      const files = await coming;
      this.#signal.throwIfAborted();
      const last = files.at(-1);
      if (!last) return;
      // The engine reads on while this page is done.
      coming = this.#list(last.inode);
      coming.catch(() => undefined);
      await this.#page(files, last.inode);
      this.#signal.throwIfAborted();
    }
  }

  async #list(afterInode: number): Promise<readonly ListedFile[]> {
    const files: ListedFile[] = [];
    while (files.length < PAGE_FILES) {
      const after = files.at(-1)?.inode ?? afterInode;
      const some = await this.#tools.engine.listFiles(this.#snapshot, after, LISTED_AT_ONCE);
      if (some.length === 0) break;
      for (const file of some) files.push(file.path.startsWith('/') ? file : { ...file, path: `/${file.path}` });
    }
    return files;
  }

  async #page(files: readonly ListedFile[], lastInode: number): Promise<void> {
    const rules = await this.#rules();
    // What is in the recycle bin is on its way out. It is listed, because stubs there need their objects until then.
    const candidates = files.filter(({ path }) => !path.startsWith(`/${RECYCLE_BIN}/`));
    const matches = await matchFiles(candidates, rules);
    const undone = await this.#act(matches);
    // What was cut off is looked at again; those behind it that were done already do not match a second time.
    const afterInode = undone === undefined ? lastInode : undone.file.inode - 1;
    const seen = undone === undefined ? files.length : files.indexOf(undone.file);
    this.#state = { ...this.#state, afterInode, seenFiles: this.#state.seenFiles + seen };
    const { store, archives } = this.#tools;
    await archives.markSeen(files, this.#first.startedAt);
    await store.write((tx) => {
      saveScan(tx, this.#share.name, this.state);
      for (const [rule, figures] of this.#figures) saveFigures(tx, rule, figures.totals());
    });
  }

  /** As they are now: what was paused, detached or changed meanwhile is so from here on. */
  async #rules(): Promise<RunningRule[]> {
    const { store, context } = this.#tools;
    const active = store.read((db) => findActiveRules(db, this.#share.name));
    const unknown = active.filter(({ rule }) => !this.#figures.has(rule));
    if (unknown.length > 0) await store.write((tx) => unknown.forEach((rule) => this.#begin(tx, rule)));
    const { rules, refused } = prepareRules(active, context(this.#first.startedAt));
    for (const { rule, problem } of refused) this.#figures.get(rule)?.refuse(problem);
    return rules.filter(({ rule }) => !this.#isGivenUp(rule));
  }

  /** A scan that goes on goes on counting. */
  #begin(tx: Parameters<Parameters<Store['write']>[0]>[0], { rule, isDryRun }: ActiveRule): void {
    const known = findRuleByName(tx, rule);
    const goesOn = known?.lastRunAt === this.#first.startedAt && known.wasDryRun === isDryRun;
    if (!goesOn) beginRun(tx, rule, isDryRun, this.#first.startedAt);
    this.#figures.set(rule, goesOn ? ScanFigures.of(known) : new ScanFigures());
  }

  #isGivenUp(rule: string): boolean {
    return (this.#figures.get(rule)?.failuresInARow ?? 0) >= FAILURES_IN_A_ROW_MAX;
  }

  /** Returns the first that was not looked after because the scan is to stop. */
  async #act(matches: readonly Match[]): Promise<Match | undefined> {
    const dry = matches.filter(({ rule }) => rule.isDryRun);
    for (const { rule, file } of dry) this.#figures.get(rule.rule)?.count(file);
    const real = matches.filter(({ rule }) => !rule.isDryRun);
    const undone = new Set(real);
    const reserved = await this.#reserve(real);
    try {
      await eachAtOnce(real, ACTIONS_AT_ONCE, async (match) => {
        if (this.#signal.aborted) return;
        const outcome = await this.#actOn(match, reserved.get(match.file));
        if (outcome === 'cut-off') return;
        undone.delete(match);
        if (outcome) this.#figures.get(match.rule.rule)?.count(match.file, outcome);
      });
    } finally {
      await this.#tools.archives.release([...reserved.values()]);
    }
    return undone.values().next().value;
  }

  async #reserve(matches: readonly Match[]): Promise<ReadonlyMap<ListedFile, Reservation>> {
    const toArchive = matches.filter(({ rule }) => rule.action === 'archive');
    return this.#tools.archives.reserve(
      this.#share.name,
      toArchive.map(({ file, rule }) => ({ file, destination: rule.destination ?? '' })),
    );
  }

  /** Nothing when its policy does not apply any more. */
  async #actOn(
    { rule, file }: Match,
    reservation: Reservation | undefined,
  ): Promise<FileOutcome | 'cut-off' | undefined> {
    const { store, engine, archives } = this.#tools;
    if (this.#isGivenUp(rule.rule) || !store.read((db) => isStillActive(db, rule))) return undefined;
    try {
      if (rule.action === 'archive') {
        if (!reservation) return { outcome: 'failed', reason: `There is no destination ${rule.destination ?? ''}.` };
        return await archives.archive(this.#share.name, reservation, this.#signal);
      }
      const isGone = await engine.expireFile(this.#share.name, file, rule.usesBin);
      return { outcome: isGone ? 'handled' : 'changed' };
    } catch (error) {
      if (this.#signal.aborted) return 'cut-off';
      if (isEngineError(error, 'interrupted', 'locked')) throw error;
      if (error instanceof EngineError && error.code === 'not-found') return { outcome: 'changed' };
      return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
  }
}
