import { endpoint, type Group } from '../endpoint.ts';
import { choice, optional, text, withDefault } from '../params.ts';
import { int, listOf, mapOf, nullable, num, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { accountAdmins } from './access.ts';
import { accountId } from './accounts.ts';

const UsageItem = record('UsageItem', {
  category: str('`data_transfer`, `objects`, `containers` or `capacity`'),
  billed_amount: num('In the billing currency'),
  billed_units: num('How much of `unit`; a month is as long as it really is, a GB is 2^30 bytes'),
  subcategory: str('`upload` or `download`; the storage policy; or `total`'),
  type: str('`streaming-bytes`, `object_count`, `container_count` or `used_capacity`'),
  unit: str('`GB`, `count` or `GBMONTH`'),
});

const AccountUsage = record('AccountUsage', {
  account_header: record('AccountUsageHeader', {
    email: nullable(str()),
    total_usage_charges: num(),
    id: str(),
    name: str(),
  }),
  usage_summary: listOf(UsageItem),
});

export const UsageReport = record('UsageReport', {
  account_usage_summary: listOf(AccountUsage),
  report_header: record('UsageReportHeader', {
    objs_name: str(),
    objs_display_name: str(),
    upload_rate_per_gb: num(),
    download_rate_per_gb: num(),
    policy_capacity_usage_cost_gbmonth: mapOf(num('Price of a GB for a month')),
    billing_unit: str(),
    total_usage_charges: num(),
    reporting_interval: record('ReportingInterval', {
      report_time: utc('When the report was made'),
      duration_sec: int(),
      start_time: utc(),
      end_time: utc(),
    }),
    objs_url: str(),
  }),
});

const day = (description: string, example: string) =>
  optional(
    text(`${description}, YYYY-MM-DD; a custom report needs it`, {
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      form: 'a day such as 2026-01-31',
      example,
    }),
  );

export const usageReports = {
  generate: endpoint('GET', '/objs/usage_reports/generate', {
    summary: 'Report what accounts used and what it costs',
    access: accountAdmins,
    params: {
      report_time: withDefault(choice(['monthly', 'custom'], 'A calendar month, or days of your choice'), 'monthly'),
      report_type: withDefault(
        choice(
          ['summary', 'detailed'],
          'One line for each kind of thing, or transfers by direction and capacity by policy',
        ),
        'detailed',
      ),
      fromdate: day('First day of a custom report', '2026-01-01'),
      todate: day('Last day of a custom report', '2026-01-31'),
      month: optional(
        text('Month of a monthly report: YYYY-MM, or 1 to 12 of this year; the present month when left out', {
          pattern: '^(\\d{4}-)?(0?[1-9]|1[0-2])$',
          form: 'a month such as 2026-01, or 1 to 12',
          example: '2026-01',
        }),
      ),
      account_id: optional({
        ...accountId,
        description:
          "The account to report on, or `all` for administrators of the array; the caller's own when left out",
      }),
    },
    reply: response({ usage: UsageReport }),
    errors: ['account_not_found'],
  }),
} satisfies Group;
