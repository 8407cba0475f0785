import { Card, Group, Stack, Text, Title } from '@mantine/core';
import { pathParams } from '@granary/contract/endpoint';
import { findOperation, type Op } from '../api/operations.ts';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { ActionButton } from '../contract/action.tsx';
import { plain, type AnyRecord } from '../contract/records.tsx';
import { words } from '../parts/format.ts';
import { Failed, Loading, PageHead } from '../parts/messages.tsx';
import { severities } from '../parts/severity.tsx';
import { Facts } from '../parts/small.tsx';

const { api } = portal.settings.getLogLevel;

/** Units and words that the names of fields do not have. */
const FIELDS: Readonly<Record<string, string>> = {
  log_level: 'Logs',
  retention_hours: 'Hours in which a deleted array can be undeleted',
  networks_per_user: 'Networks',
  smtp_host: 'Mail server',
  smtp_port: 'Port',
  smtp_secure: 'Implicit TLS',
  smtp_user: 'SMTP user',
  smtp_password: 'SMTP password',
  smtp_from: 'Sender',
  notice_to: 'To',
  notice_severity: 'Minimum severity',
  idle_minutes: 'Idle timeout of sessions, minutes',
  hours_max: 'Lifetime of sessions, hours',
  metrics_token: 'Token',
};
const TITLES: Readonly<Record<string, string>> = {
  getLogLevel: 'Log',
  getArrayRetention: 'Recycle bin of arrays',
  getNetworksPerUser: 'Networks of a user',
  getMail: 'Mail of events',
  getMetricsToken: 'Metrics',
  getSessions: 'Browsers that are signed in',
};

/** Each setting that can be read, with the way to change it: `getMail` with `setMail`. */
export default function Settings() {
  const may = useMay();
  const names = Object.keys(api.groups['settings'] ?? {});
  const readable = names.flatMap((name) => {
    const read = findOperation(api, 'settings', name);
    return read && read.endpoint.method === 'GET' && pathParams(read.endpoint.path).length === 0 && may(read)
      ? [read]
      : [];
  });
  return (
    <>
      <PageHead title="Settings" about="Of the portal, for everyone." />
      <Stack>
        {readable.map((read) => (
          <Setting
            key={read.id}
            read={read}
            change={findOperation(api, 'settings', read.name.replace(/^get/, 'set'))}
          />
        ))}
      </Stack>
    </>
  );
}

function Setting({ read, change }: { readonly read: Op; readonly change: Op | undefined }) {
  const setting = useRead(read, {});
  const name = TITLES[read.name] ?? words(read.name.replace(/^get/, ''));
  const value = valuesOf(setting.data);
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {name}
        </Title>
        <Changes read={read} change={change} start={value} />
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {sentence(read.endpoint.summary)}
      </Text>
      {setting.isPending && <Loading />}
      {setting.isError && <Failed error={setting.error} />}
      {setting.data && (
        <Facts
          of={Object.entries(value).map(([key, one]) => [FIELDS[key] ?? words(key), valueText(key, one)] as const)}
        />
      )}
    </Card>
  );
}

/** `Show who is mailed` of the API says what is shown: `Who is mailed`. */
function sentence(summary: string): string {
  const text = summary.replace(/^Show /, '').replace(/; null when .*$/, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Of a token: to make one and to remove it. Of the rest: a form that starts with what is there. */
function Changes(props: { readonly read: Op; readonly change: Op | undefined; readonly start: AnyRecord }) {
  const { read, change, start } = props;
  if (read.name === 'getMetricsToken')
    return (
      <Group gap="xs">
        <ActionButton op={portal.settings.createMetricsToken} label="New token" isSmall showsReply />
        <ActionButton op={portal.settings.deleteMetricsToken} label="Remove the token" isSmall destroys="token" />
      </Group>
    );
  if (!change) return null;
  const given = Object.fromEntries(Object.entries(start).filter(([, value]) => value !== null));
  return <ActionButton op={change} label="Change" isSmall start={given} labels={FIELDS} said="Changed, at once." />;
}

function valueText(name: string, value: unknown): string {
  if (name === 'notice_severity') return `${severities[Number(value)] ?? plain(value)} or worse`;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (name === 'metrics_token') return value === null ? 'none' : 'set';
  return plain(value) || 'none';
}

/** The record of a reply, whatever it is called there. */
function valuesOf(reply: unknown): AnyRecord {
  if (typeof reply !== 'object' || reply === null) return {};
  const { status: _, ...rest } = reply as AnyRecord;
  const [only, ...others] = Object.values(rest);
  const isRecord = others.length === 0 && typeof only === 'object' && only !== null;
  return isRecord ? (only as AnyRecord) : rest;
}
