import { setImmediate as yieldTurn } from 'node:timers/promises';
import { fail, formatUtc, type Clock, type HostedConfiguration, type Store } from '@granary/kernel';
import type { StoredUsage } from '@granary/storage/object-store';
import type { Account } from '../accounts/account.ts';
import { findAccount, listAccountsAfter } from '../accounts/repository.ts';
import { scopeOf, type ObjectsActor } from '../actor.ts';
import { listPriceChanges, type PriceChange, type PricedItem } from '../prices/repository.ts';
import type { Settings } from '../settings/service.ts';
import { amountShown, nanosOf, storedShares, type Charge, type Shares } from './amount.ts';
import { monthsOf, periodOf, type Asked, type Period } from './period.ts';
import { partsOf, priceAt } from './price-history.ts';
import { billOf, countsOf, itemView, joined, type AccountUse, type Prices } from './report.ts';
import type { Transferred } from './repository.ts';

/** A storage policy; its prices are on record by the name people gave it. */
interface PricedByName {
  readonly index: number;
  readonly name: string;
  readonly displayName: string;
}

/** What an account moved from one day to another, the last not among them. */
export interface TransferReader {
  transferred(account: string, from: number, to: number): Promise<Transferred>;
}

interface UsageReportOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly metering: TransferReader;
  readonly configuration: () => HostedConfiguration;
  readonly settings: () => Pick<Settings, 'billingUnit'>;
  readonly policies: () => readonly PricedByName[];
  /** Everything answered before is counted afterwards. */
  readonly flush: () => Promise<void>;
  readonly stored: (account: string, from: number, to: number) => readonly StoredUsage[];
}

export interface ReportAsked extends Asked {
  readonly report_type: 'summary' | 'detailed';
  readonly account_id?: string | undefined;
}

/** In place of an account's id: a report on all of them. */
const ALL = 'all';
const DAY_MS = 86_400_000;
const ACCOUNTS_PER_TURN = 100;

/**
 * What accounts used and what it costs, each day at the prices of that day: a price that is set later changes no report of
 * the past. Deleted accounts are reported until they are cleaned up.
 */
export class UsageReports {
  readonly #options: UsageReportOptions;

  constructor(options: UsageReportOptions) {
    this.#options = options;
  }

  async generate(asked: ReportAsked, actor: ObjectsActor) {
    const { store, clock, flush } = this.#options;
    const period = periodOf(asked, clock.now());
    const named = asked.account_id ?? actor.accountId ?? ALL;
    const scope = scopeOf(actor);
    if (scope !== null && named !== scope) throw fail('account_not_found', { id: named });
    await flush();
    const changes = store.read(listPriceChanges);
    const parts = partsOf(period, changes).map((part) => ({ part, prices: this.#pricesAt(changes, part.from) }));
    const summaries = [];
    let total: Charge = 0n;
    for await (const account of named === ALL ? this.#allAccounts() : [this.#account(named)]) {
      const uses = [];
      for (const { part, prices } of parts) uses.push({ use: await this.#use(account.id, part), prices });
      const bill = joined(uses.map(({ use, prices }) => billOf(use, prices, asked.report_type)));
      total += bill.total;
      summaries.push({
        account_header: {
          email: account.email,
          total_usage_charges: amountShown(bill.total),
          id: account.id,
          name: account.name,
        },
        usage_summary: bill.items.map(itemView),
      });
    }
    return { account_usage_summary: summaries, report_header: this.#header(period, total, changes) };
  }

  #account(id: string): Account {
    const account = this.#options.store.read((db) => findAccount(db, id));
    if (!account) throw fail('account_not_found', { id });
    return account;
  }

  /** In the order of their names, with a pause now and then: there may be very many. */
  async *#allAccounts(): AsyncGenerator<Account> {
    let last = { name: '', id: '' };
    for (;;) {
      const after = last;
      const rows = this.#options.store.read((db) => listAccountsAfter(db, after, ACCOUNTS_PER_TURN));
      yield* rows;
      const end = rows.at(-1);
      if (!end) return;
      last = end;
      await yieldTurn();
    }
  }

  async #use(account: string, period: Period): Promise<AccountUse> {
    const { metering, stored } = this.#options;
    const transferred = await metering.transferred(
      account,
      Math.floor(period.from / DAY_MS),
      Math.ceil(period.to / DAY_MS),
    );
    const shares = new Map<number, Shares>();
    let last: readonly StoredUsage[] = [];
    for (const { from, to, daysOfMonth } of monthsOf(period)) {
      last = stored(account, from, to);
      for (const { policy, byteMilliseconds } of last)
        shares.set(policy, (shares.get(policy) ?? 0n) + storedShares(byteMilliseconds, daysOfMonth));
    }
    return { ...transferred, stored: shares, ...countsOf(last) };
  }

  #pricesAt(changes: readonly PriceChange[], at: number): Prices {
    const priced = (item: PricedItem) => nanosOf(priceAt(changes, item, at));
    return {
      upload: priced('upload'),
      download: priced('download'),
      policies: this.#options.policies().map(({ index, name, displayName }) => {
        return { index, name, monthPrice: priced(`policy:${displayName}`) };
      }),
    };
  }

  /** With the prices at the end of the time. */
  #header({ from, to }: Period, total: Charge, changes: readonly PriceChange[]) {
    const { clock, configuration, settings, policies } = this.#options;
    const { internalName, displayName, managementUrl } = configuration();
    const price = (item: PricedItem) => Number(priceAt(changes, item, Math.max(from, to - 1)));
    return {
      objs_name: internalName,
      objs_display_name: displayName,
      upload_rate_per_gb: price('upload'),
      download_rate_per_gb: price('download'),
      policy_capacity_usage_cost_gbmonth: Object.fromEntries(
        policies().map(({ name, displayName }) => [name, price(`policy:${displayName}`)]),
      ),
      billing_unit: settings().billingUnit,
      total_usage_charges: amountShown(total),
      reporting_interval: {
        report_time: formatUtc(clock.now()),
        duration_sec: Math.floor((to - from) / 1000),
        start_time: formatUtc(from),
        end_time: formatUtc(to),
      },
      objs_url: managementUrl,
    };
  }
}
