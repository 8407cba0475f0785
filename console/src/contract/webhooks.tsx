import { Text } from '@mantine/core';
import { severities } from '../parts/severity.tsx';
import { State, Time } from '../parts/small.tsx';
import type { Wording } from './group-page.tsx';
import { plain, type AnyRecord } from './records.tsx';

/** The same at the portal and in arrays. */
export const webhookWording: Wording = {
  one: 'webhook',
  headings: {
    name: 'Name',
    shown_url: 'Address',
    state: 'State',
    kinds: 'Kinds of events',
    severity: 'Severity',
    waiting: 'Waiting',
    last_delivered_at: 'Last delivered',
  },
  cells: {
    shown_url: ({ shown_url: address }) => <span className="cell-long">{plain(address)}</span>,
    state: (row) => <WebhookState row={row} />,
    kinds: ({ kinds }) => plain(kinds) || 'all but logins',
    severity: ({ severity }) => `${severities[Number(severity)] ?? plain(severity)} or worse`,
    last_delivered_at: ({ last_delivered_at: at }) => <Time at={at as string | null} isRelative />,
  },
  labels: { name: 'Name', target_url: 'Address', severity: 'Minimum severity', kinds: 'Kinds of events' },
  startOf: ({ name, severity, kinds, state }) => ({
    name,
    severity,
    ...(kinds !== null && { kinds }),
    enabled: state === 'enabled',
  }),
  actions: {
    create: { showsReply: true },
    test: {
      label: 'Send a test',
      about: 'One event is sent now, so that you see whether it arrives.',
      showsReply: true,
      said: 'The answer of the receiver is shown.',
    },
  },
};

function WebhookState({ row }: { readonly row: AnyRecord }) {
  const problem = plain(row['last_error']);
  if (row['state'] === 'disabled') return <State of="disabled" />;
  if (problem === '') return <State of="enabled" />;
  return (
    <>
      <State of="failing" />
      <Text size="xs" c="dimmed">
        {problem}
      </Text>
    </>
  );
}
