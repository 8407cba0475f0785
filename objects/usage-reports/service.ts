import { setImmediate as yieldTurn } from 'node:timers/promises';
import { fail, formatUtc, type Clock, type HostedConfiguration, type Store } from '@granary/kernel';
import type { StoredUsage } from '@granary/storage/object-store';
import type { Account } from '../accounts/account.ts';
import { findAccount, listAccountsAfter } from '../accounts/repository.ts';
import type { ObjectsActor } from '../actor.ts';
import type { Settings } from '../settings/service.ts';
import { amountShown, nanosOf, storedShares, type Charge, type Shares } from './amount.ts';
import { monthsOf, periodOf, type Asked, type Period } from './period.ts';
import { billOf, countsOf, itemView, type AccountUse, type Prices } from './report.ts';
import type { Transferred } from './repository.ts';

/** A storage policy as it is priced now. */
interface PolicyPrice {
  readonly index: number;
  readonly name: string;
  readonly monthCost: string;
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
  readonly settings: () => Pick<Settings, 'uploadRatePerGb' | 'downloadRatePerGb' | 'billingUnit'>;
  readonly policies: () => readonly PolicyPrice[];
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
 * What accounts used and what it costs, at the prices of the moment the report is made. Deleted accounts are reported
 * until they are cleaned up.
 */
export class UsageReports {
  readonly #options: UsageReportOptions;

  constructor(options: UsageReportOptions) {
    this.#options = options;
  }

  async generate(asked: ReportAsked, actor: ObjectsActor) {
    const { clock, flush } = this.#options;
    const period = periodOf(asked, clock.now());
    const named = asked.account_id ?? actor.accountId ?? ALL;
    await flush();
    const prices = this.#prices();
    const summaries = [];
    let total: Charge = 0n;
    for await (const account of named === ALL ? this.#allAccounts() : [this.#account(named)]) {
      const bill = billOf(await this.#use(account.id, period), prices, asked.report_type);
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
    return { account_usage_summary: summaries, report_header: this.#header(period, total) };
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

  #prices(): Prices {
    const { settings, policies } = this.#options;
    const { uploadRatePerGb, downloadRatePerGb } = settings();
    return {
      upload: nanosOf(uploadRatePerGb),
      download: nanosOf(downloadRatePerGb),
      policies: policies().map(({ index, name, monthCost }) => ({ index, name, monthPrice: nanosOf(monthCost) })),
    };
  }

  #header({ from, to }: Period, total: Charge) {
    const { clock, configuration, settings, policies } = this.#options;
    const { internalName, displayName, managementUrl } = configuration();
    const { uploadRatePerGb, downloadRatePerGb, billingUnit } = settings();
    return {
      objs_name: internalName,
      objs_display_name: displayName,
      upload_rate_per_gb: uploadRatePerGb,
      download_rate_per_gb: downloadRatePerGb,
      policy_capacity_usage_cost_gbmonth: Object.fromEntries(
        policies().map(({ name, monthCost }) => [name, Number(monthCost)]),
      ),
      billing_unit: billingUnit,
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
