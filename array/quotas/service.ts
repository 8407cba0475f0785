import { badParameter, fail, Locks, type Page } from '@granary/kernel';
import type { QuotaLimit, QuotaScope, QuotaSwitches, QuotaUsage } from '../engine/shares.ts';
import type { NasService } from '../nas/service.ts';
import type { ArrayTools } from '../tools.ts';
import { MB } from '../units.ts';
import type { Volume } from '../volumes/volume.ts';
import { titleOf } from '../volumes/rules.ts';
import type { ShareFinder } from '../volumes/service.ts';
import { listed } from '../wording.ts';
import { QuotaImport } from './quota-import.ts';
import { AccountNames, NUMBER_MAX } from './names.ts';
import { LIMIT_MB_MAX, type QuotaFileFormat } from './quota-file.ts';

/** One quota to set, as a caller sends it. */
export interface QuotaChange {
  readonly source_id: number;
  readonly source_type: QuotaScope;
  readonly nas_type: string;
  /** MB; 0 removes it. */
  readonly limit: string;
}

/** Names whose quota is asked for: one of them. */
export interface QuotaOf {
  readonly id?: number | undefined;
  readonly nas?: string | undefined;
  readonly ad?: string | undefined;
}

export interface NamedQuota extends QuotaUsage {
  /** Its name; undefined for a number without an account. */
  readonly name: string | undefined;
}

interface Neighbours {
  readonly volumes: ShareFinder;
  readonly nas: NasService;
}

const NO_DIRECTORY = 'this array is in no Active Directory; use uid or nas';
const PAGE = 1_000;
const NAMED_MAX = 3;

/** What users, groups and projects may use of a share. The filesystem of the share counts and enforces it. */
export class QuotaService {
  readonly #tools: ArrayTools;
  readonly #volumes: ShareFinder;
  readonly #names: AccountNames;
  readonly #importing: QuotaImport;
  readonly #turns = new Locks();

  constructor(tools: ArrayTools, { volumes, nas }: Neighbours) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#names = new AccountNames(tools.store, nas);
    this.#importing = new QuotaImport(tools);
  }

  /** A page of those that use something or have a limit, and how many they are in all. */
  async list(
    volume: string,
    scope: QuotaScope,
    { start, limit }: Page,
  ): Promise<{ quotas: NamedQuota[]; count: number }> {
    this.#volumes.getShare(volume);
    const end = limit === 0 ? Infinity : start + limit;
    const wanted: QuotaUsage[] = [];
    let count = 0;
    for await (const page of this.#pages(volume, scope)) {
      wanted.push(...page.slice(Math.max(0, start - count), Math.max(0, end - count)));
      count += page.length;
    }
    const names = this.#names.byNumber(volume, scope);
    return { quotas: wanted.map((quota) => ({ ...quota, name: names.get(quota.id) })), count };
  }

  /** The limit; undefined for none. */
  async get(volume: string, scope: QuotaScope, of: QuotaOf): Promise<number | undefined> {
    this.#volumes.getShare(volume);
    const { limitBytes } = await this.#tools.engine.quota(volume, scope, this.#idOf(volume, scope, of));
    return limitBytes;
  }

  /** Sets those that can be set; says of each other one what is wrong with it. */
  async set(volume: string, changes: readonly QuotaChange[], actor: string): Promise<string[]> {
    const share = this.#volumes.usableShare(volume);
    const problems: string[] = [];
    const limits = new Map<string, QuotaLimit>();
    const isKnown = this.#names.checker(volume);
    for (const [index, change] of changes.entries()) {
      const problem = problemOf(change, isKnown);
      if (problem !== undefined) problems.push(`quotas[${index}]: ${problem}`);
      else limits.set(`${change.source_type} ${change.source_id}`, limitOf(change));
    }
    if (limits.size > 0) {
      await this.#tools.engine.setQuotas(volume, [...limits.values()]);
      await this.#record(share, `${countOf(limits.size)} set`, actor);
    }
    return problems;
  }

  /** Turns kinds of quotas on or off. What is over its limit already is a reason not to, unless forced. */
  setState(volume: string, change: Partial<QuotaSwitches>, isForced: boolean, actor: string): Promise<void> {
    const share = this.#volumes.usableShare(volume);
    const wanted = Object.entries(change) as [QuotaScope, boolean][];
    if (wanted.length === 0) throw badParameter('uquota', 'or gquota or pquota must be sent, as on or off');
    return this.#turns.run(volume, async () => {
      const { engine } = this.#tools;
      const before = await engine.quotaState(volume);
      for (const [scope, isOn] of wanted)
        if (isOn && !before[scope] && !isForced) await this.#refuseOver(volume, scope);
      await engine.setQuotaState(volume, { ...before, ...change });
      const words = wanted.map(([scope, isOn]) => `quotas of ${scope}s turned ${isOn ? 'on' : 'off'}`);
      await this.#record(share, words.join(', '), actor);
    });
  }

  /** All of the file or nothing. Resolves when they are set. */
  async import(
    volume: string,
    scope: QuotaScope,
    { format, bytes }: { readonly format: QuotaFileFormat; readonly bytes: Uint8Array },
    actor: string,
  ): Promise<void> {
    const share = this.#volumes.usableShare(volume);
    const count = await this.#importing.run(share, this.#names.reader(volume, scope), { scope, format, bytes });
    await this.#record(share, `${countOf(count, ` of ${scope}s`)} set from a file`, actor);
  }

  async *#pages(volume: string, scope: QuotaScope): AsyncGenerator<readonly QuotaUsage[]> {
    for (let from = 0; from <= NUMBER_MAX;) {
      const page = await this.#tools.engine.quotas(volume, scope, from, PAGE);
      yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      from = last.id + 1;
    }
  }

  #idOf(volume: string, scope: QuotaScope, { id, nas, ad }: QuotaOf): number {
    if ([id, nas, ad].filter((one) => one !== undefined).length !== 1)
      throw badParameter('quota_id', 'or quota_nas must be sent, and only one of them');
    if (ad !== undefined) throw badParameter('quota_ad', `cannot be used: ${NO_DIRECTORY}`);
    if (nas !== undefined && scope === 'project')
      throw badParameter('quota_nas', 'is for users and groups; name a project by its id in quota_id');
    if (nas !== undefined) return this.#names.numberOf(scope as 'user' | 'group', nas);
    if (scope === 'project' && !this.#names.byNumber(volume, scope).has(id ?? 0))
      throw fail('project_not_found', { id: id ?? 0 });
    return id ?? 0;
  }

  async #refuseOver(volume: string, scope: QuotaScope): Promise<void> {
    const over: number[] = [];
    for await (const page of this.#pages(volume, scope))
      for (const { id, usedBytes, limitBytes = Infinity } of page) if (usedBytes > limitBytes) over.push(id);
    if (over.length === 0) return;
    const names = this.#names.byNumber(volume, scope);
    const named = over.slice(0, NAMED_MAX).map((id) => names.get(id) ?? String(id));
    const who =
      over.length > named.length ? `${named.join(', ')} and ${over.length - named.length} more` : listed(named);
    throw fail('over_quota_already', { scope, who });
  }

  #record(share: Volume, what: string, actor: string): Promise<unknown> {
    const { store, events } = this.#tools;
    const title = `${titleOf(share)}: ${what}.`;
    return store.write((tx) => events.record(tx, { title, subject: `volume:${share.name}`, actor }));
  }
}

type IsKnown = (scope: QuotaScope, id: number) => boolean;

function problemOf(
  { source_id: id, source_type: scope, nas_type, limit }: QuotaChange,
  isKnown: IsKnown,
): string | undefined {
  if (id > NUMBER_MAX) return `source_id is ${id}; it must be at most ${NUMBER_MAX}`;
  if (Number(limit) > LIMIT_MB_MAX) return `limit is ${limit}; it must be at most ${LIMIT_MB_MAX} MB`;
  if (scope === 'project')
    return isKnown(scope, id) ? undefined : `source_id is ${id}; there is no quota project of that id`;
  switch (nas_type.toLowerCase()) {
    case 'uid':
      return undefined;
    case 'nas':
      return isKnown(scope, id) ? undefined : `source_id is ${id}; there is no NAS ${scope} of that number`;
    case 'ad':
      return `nas_type is ad; ${NO_DIRECTORY}`;
    default:
      return 'nas_type must be uid or nas';
  }
}

function limitOf({ source_id: id, source_type: scope, limit }: QuotaChange): QuotaLimit {
  return { scope, id, limitBytes: Number(limit) === 0 ? undefined : Number(limit) * MB };
}

function countOf(count: number, of = ''): string {
  return count === 1 ? `1 quota${of} was` : `${count} quotas${of} were`;
}
