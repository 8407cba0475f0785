import { Anchor, Button, Group, SegmentedControl, Select, Table, Text, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { useIdentity, useMay } from '../../app/identity.tsx';
import { count, money } from '../../parts/format.ts';
import { IconDownload } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Time } from '../../parts/small.tsx';
import { shownSum } from '../../parts/sums.ts';
import { DataTable } from '../../parts/table.tsx';
import { amountOf, monthsUntil, nameOf, reportCsv, type AccountReport, type Report } from './report.ts';

const MONTHS = 13;
const ALL = 'all';
/** More accounts are a list, each with its own report. */
const PARTS_MAX = 20;

/** What accounts used and what it costs: of a month, or of days of one's choice. */
export default function Usage() {
  const { filters, input, choose } = useFilters();
  const reading = useRead(objects.usageReports.generate, input ?? {}, { enabled: input !== undefined });
  return (
    <>
      <PageHead
        title="Usage report"
        about="Transfers, objects and capacity, and what they cost. Days and months are UTC, as bills are."
      />
      {filters}
      {input === undefined ? (
        <Empty title="Choose the first and the last day." />
      ) : (
        <Reading of={reading}>{({ usage }) => <ReportOf report={usage} choose={choose} />}</Reading>
      )}
    </>
  );
}

function useFilters() {
  const isOperator = useIdentity('objects')?.role === 'objs_admin';
  const months = monthsUntil(new Date(), MONTHS);
  const [month, setMonth] = useAddressText('month');
  const [from, setFrom] = useAddressText('from');
  const [to, setTo] = useAddressText('to');
  const [account, setAccount] = useAddressText('account');
  const [detail, setDetail] = useAddressText('detail');
  const accounts = useRead(objects.accounts.list, {}, { enabled: isOperator });
  const isCustom = month === 'custom';
  const shown = isCustom || months.includes(month) ? month : (months[0] ?? '');
  const type = detail === 'summary' ? ('summary' as const) : ('detailed' as const);
  const of = isOperator ? { account_id: account === '' ? ALL : account } : {};
  const days = { report_time: 'custom' as const, fromdate: from, todate: to };
  const time = isCustom ? days : { report_time: 'monthly' as const, month: shown };
  const isWhole = !isCustom || (from !== '' && to !== '');
  const filters = (
    <Group align="flex-end" gap="xs" mb="md">
      <Select
        label="Time"
        size="xs"
        data={[...months, { value: 'custom', label: 'custom range' }]}
        value={shown}
        onChange={(value) => setMonth(value === months[0] ? '' : (value ?? ''))}
        allowDeselect={false}
        w={130}
      />
      {isCustom && (
        <>
          <TextInput
            type="date"
            label="First day"
            size="xs"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            type="date"
            label="Last day"
            size="xs"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
        </>
      )}
      {isOperator && (
        <Select
          label="Account"
          size="xs"
          data={[
            { value: ALL, label: 'all accounts' },
            ...(accounts.data?.accounts.map(({ id, name }) => ({ value: id, label: name })) ?? []),
          ]}
          value={account === '' ? ALL : account}
          onChange={(value) => setAccount(value === ALL ? '' : (value ?? ''))}
          allowDeselect={false}
          searchable
          limit={200}
          w={180}
        />
      )}
      <SegmentedControl
        size="xs"
        aria-label="How detailed"
        data={[
          { value: 'detailed', label: 'detailed' },
          { value: 'summary', label: 'summary' },
        ]}
        value={type}
        onChange={(value) => setDetail(value === 'detailed' ? '' : value)}
      />
    </Group>
  );
  return { filters, choose: setAccount, input: isWhole ? { ...time, ...of, report_type: type } : undefined };
}

/** Reports name storage policies by their identifiers; an account administrator may not ask for more. */
function usePolicyNames(): (text: string) => string {
  const may = useMay();
  const { data } = useRead(objects.policies.list, {}, { enabled: may(objects.policies.list) });
  const names = new Map(data?.policies.map(({ name, display_name: title }) => [name, title]));
  // Who may not list the policies sees which one it is by its number.
  return (text) =>
    text.replace(/policy-0*(\d+)/, (name, number: string) => names.get(name) ?? `storage policy ${number}`);
}

function ReportOf({ report, choose }: { readonly report: Report; readonly choose: (account: string) => void }) {
  const { report_header: header, account_usage_summary: accounts } = report;
  const currency = header.billing_unit.toUpperCase();
  const named = usePolicyNames();
  const { start_time: from, end_time: to, report_time: made } = header.reporting_interval;
  const charges = shownSum(
    accounts.map(({ account_header: { total_usage_charges: charge } }) => charge),
    header.total_usage_charges,
    currency,
  );
  return (
    <>
      <Section title={charges.total} tools={<CsvFile report={report} />}>
        <Facts
          of={[
            ['From', <Time key="from" at={from} />],
            ['To', <Time key="to" at={to} />],
            ['Created', <Time key="made" at={made} />],
            ['Price per GiB uploaded', money(header.upload_rate_per_gb, currency)],
            ['Price per GiB downloaded', money(header.download_rate_per_gb, currency)],
            ...Object.entries(header.policy_capacity_usage_cost_gbmonth).map(
              ([policy, price]) => [`A GiB for a month in ${named(policy)}`, money(price, currency)] as const,
            ),
          ]}
        />
      </Section>
      {accounts.length === 0 && <Empty title="Nothing was used in this time." />}
      {accounts.length > PARTS_MAX && <AccountTable accounts={accounts} charges={charges.parts} choose={choose} />}
      {(accounts.length > PARTS_MAX ? [] : accounts).map((one, index) => (
        <AccountPart
          key={one.account_header.id}
          part={one}
          charge={charges.parts[index]}
          charges={charges.partsOf(
            index,
            one.usage_summary.map(({ billed_amount: amount }) => amount),
          )}
          named={named}
        />
      ))}
    </>
  );
}

function AccountTable(props: {
  readonly accounts: readonly AccountReport[];
  readonly charges: readonly string[];
  readonly choose: (account: string) => void;
}) {
  const { accounts, charges, choose } = props;
  const chargeOf = new Map(accounts.map((one, index) => [one, charges[index]]));
  return (
    <Section title="Accounts">
      <DataTable
        label="Charges by account"
        prefix="charges-"
        rows={accounts}
        rowKey={({ account_header: { id } }) => id}
        columns={[
          {
            name: 'account',
            heading: 'Account',
            value: ({ account_header: { name } }) => name,
            cell: ({ account_header: { id, name } }) => (
              <Anchor component="button" type="button" fz="inherit" onClick={() => choose(id)}>
                {name}
              </Anchor>
            ),
          },
          {
            name: 'objects',
            heading: 'Objects',
            align: 'right',
            value: objectsOf,
            cell: (one) => count(objectsOf(one)),
          },
          {
            name: 'charge',
            heading: 'Charge',
            align: 'right',
            value: ({ account_header: { total_usage_charges: charge } }) => charge,
            cell: (one) => chargeOf.get(one),
          },
        ]}
        empty={<Empty title="Nothing was used in this time." />}
      />
    </Section>
  );
}

function objectsOf({ usage_summary: lines }: AccountReport): number {
  return lines.find(({ category }) => category === 'objects')?.billed_units ?? 0;
}

function AccountPart(props: {
  readonly part: AccountReport;
  readonly charge: string | undefined;
  readonly charges: readonly string[];
  readonly named: (text: string) => string;
}) {
  const { part, charge, charges, named } = props;
  const { account_header: account, usage_summary: lines } = part;
  return (
    <Section title={account.name} tools={<Text fw={600}>{charge}</Text>}>
      {lines.length === 0 ? (
        <Text size="sm" c="dimmed">
          It used nothing.
        </Text>
      ) : (
        <div className="table-scroll" tabIndex={0} role="region" aria-label={`Usage of ${account.name}`}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>What</Table.Th>
                <Table.Th ta="right">Quantity</Table.Th>
                <Table.Th ta="right">Charge</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {lines.map((line, index) => (
                <Table.Tr key={`${line.category} ${line.subcategory} ${line.type}`}>
                  <Table.Td>{named(nameOf(line))}</Table.Td>
                  <Table.Td ta="right">{amountOf(line)}</Table.Td>
                  <Table.Td ta="right">{charges[index]}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </Section>
  );
}

function CsvFile({ report }: { readonly report: Report }) {
  const { start_time: from, end_time: to } = report.report_header.reporting_interval;
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([reportCsv(report)], { type: 'text/csv' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [report]);
  return (
    <Button
      component="a"
      href={url}
      download={`usage ${from.slice(0, 10)} to ${to.slice(0, 10)}.csv`}
      size="xs"
      variant="default"
      leftSection={<IconDownload />}
    >
      As CSV
    </Button>
  );
}
