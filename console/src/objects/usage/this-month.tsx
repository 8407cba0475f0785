import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { money } from '../../parts/format.ts';
import { Reading } from '../../parts/reading.tsx';
import { Facts } from '../../parts/small.tsx';
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
        return (
          <Facts
            of={[
              ...lines.map(
                (line) => [nameOf(line), `${amountOf(line)}: ${money(line.billed_amount, currency)}`] as const,
              ),
              ['Total', money(header.total_usage_charges, currency)],
            ]}
          />
        );
      }}
    </Reading>
  );
}
