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
import { Facts } from '../parts/small.tsx';

const { api } = portal.settings.getLogLevel;

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
  const name = words(read.name.replace(/^get/, ''));
  const value = valuesOf(setting.data);
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {name}
        </Title>
        {change && <ActionButton op={change} label={`Change ${name.toLowerCase()}`} isSmall start={value} />}
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {read.endpoint.summary}
      </Text>
      {setting.isPending && <Loading />}
      {setting.isError && <Failed error={setting.error} />}
      {setting.data && (
        <Facts of={Object.entries(value).map(([key, one]) => [words(key), plain(one) || '–'] as const)} />
      )}
    </Card>
  );
}

function valuesOf(reply: unknown): AnyRecord {
  if (typeof reply !== 'object' || reply === null) return {};
  const { status: _, data, ...rest } = reply as AnyRecord;
  return typeof data === 'object' && data !== null ? (data as AnyRecord) : rest;
}
