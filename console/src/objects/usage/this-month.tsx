import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { Reading } from '../../parts/reading.tsx';
import { Facts } from '../../parts/small.tsx';
import { shownSum } from '../../parts/sums.ts';
import { amountOf, nameOf } from './report.ts';

const EVERY_MS = 60_000;

/** What one account used since the month began, and what that costs. */
export function ThisMonth({ account }: { readonly account: string }) {
  const reading = useRead(
    objects.usageReports.generate,
    { account_id: account, report_type: 'summary' },
    { everyMs: EVERY_MS },
  );
  return (
    <Reading of={reading}>
      {({ usage: { account_usage_summary: accounts, report_header: header } }) => {
        const currency = header.billing_unit.toUpperCase();
        const lines = accounts.flatMap(({ usage_summary: all }) => all);
        const { total, parts } = shownSum(
          lines.map(({ billed_amount: amount }) => amount),
          header.total_usage_charges,
          currency,
        );
        return (
          <Facts
            of={[
              ...lines.map((line, index) => [nameOf(line), `${amountOf(line)}: ${parts[index]}`] as const),
              ['Total', total],
            ]}
          />
        );
      }}
    </Reading>
  );
}
