import type { FileBody } from '@granary/contract';
import { badParameter, fail, type Db } from '@granary/kernel';
import type { UserId } from '../ids.ts';
import { isAdmin, scopeOf, type PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import type { BillLine } from './bill.ts';
import { billFiles } from './files.ts';
import { billedLines } from './lines.ts';
import { periodStarts, summaryOf, type PeriodLength, type Summary } from './summary.ts';
import { userExists } from '../users/repository.ts';
import { readWindow } from './window.ts';

export interface ReportRequest {
  /** `YYYY-MM-DD HH:MM`, UTC. */
  readonly start: string;
  readonly end: string;
  readonly userId: UserId | undefined;
  /** Only this one's part. */
  readonly arrayId?: number | undefined;
}

/** A bill whose zip would have more lines is refused before it fills the memory; sums have no such bound. */
const LINES_MAX = 500_000;
const PERIODS_MAX = 400;

/** What was used, from the meter, at the prices of the time. */
export class BillingService {
  readonly #tools: Pick<Tools, 'store' | 'clock'>;

  constructor(tools: Pick<Tools, 'store' | 'clock'>) {
    this.#tools = tools;
  }

  /** What still exists is billed up to now. */
  async report(wanted: ReportRequest, actor: PortalActor): Promise<FileBody> {
    const { start, end } = wanted;
    const { lines, to } = this.#lines(wanted, actor);
    const name = [start, end].map((time) => time.replace(' ', 'T').replace(':', '')).join('-');
    return { filename: `billing-${name}.zip`, bytes: await billFiles(atMost(lines, LINES_MAX), to) };
  }

  /** The same in sums. */
  async summary(wanted: ReportRequest, per: PeriodLength, actor: PortalActor): Promise<Summary> {
    const { lines, span } = this.#lines(wanted, actor);
    if (periodStarts(span, per).length > PERIODS_MAX)
      throw badParameter('per', `makes more than ${PERIODS_MAX} periods; choose month, or a shorter window`);
    return summaryOf(lines, span, per);
  }

  #lines({ start, end, userId, arrayId }: ReportRequest, actor: PortalActor) {
    const { store, clock } = this.#tools;
    const { from, to } = readWindow(start, end);
    const ownerId = store.read((db) => billedUser(db, userId, actor));
    const span = { from, to: Math.min(to, clock.now()) };
    return { lines: billedLines(store, span, ownerId, arrayId), span, to };
  }
}

/** Whose bill it is: of the user asked for, else of all the actor may see. */
function billedUser(db: Db, userId: UserId | undefined, actor: PortalActor): number | null {
  if (userId === undefined) return scopeOf(actor);
  const visible = isAdmin(actor) ? userExists(db, userId) : userId === actor.userId;
  if (!visible) throw fail('not_found', { kind: 'user', id: userId });
  return userId;
}

export function* atMost(lines: Iterable<BillLine>, max: number): Generator<BillLine> {
  let count = 0;
  for (const line of lines) {
    if (++count > max)
      throw badParameter('end_datetime', `makes a bill of more than ${max} lines; choose a shorter window`);
    yield line;
  }
}
