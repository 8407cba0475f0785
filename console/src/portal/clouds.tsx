import { Accordion, Card, Code, Group, Stack, Table, Text, Title } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { action } from '../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../contract/action.tsx';
import { hostAndPort } from '../contract/field-rules.ts';
import { gigabytes } from '../parts/format.ts';
import { IconPlus } from '../parts/icons.tsx';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { Facts, State } from '../parts/small.tsx';
import type { PortalCloud } from './arrays/record.ts';

const CLOUD_LABELS = {
  name: 'Name',
  enabled: 'Users see it',
  ip: 'Address',
  admin_user: 'Administrator of the cloud',
  admin_key: 'Key of the administrator',
  fingerprint: 'Fingerprint of its certificate authority',
  adopt: 'Adopt it from another portal',
};

const RULES = { ip: hostAndPort, portal: hostAndPort };

/** Machines and clusters that host arrays: what they offer, and at what price. */
export default function Clouds() {
  const list = useRead(portal.clouds.list, {});
  return (
    <>
      <PageHead title="Clouds" about="Machines and clusters that host arrays.">
        <ActionButton
          op={portal.clouds.create}
          label="Register a cloud"
          icon={<IconPlus />}
          labels={CLOUD_LABELS}
          rules={RULES}
        />
        <ActionButton
          op={portal.clouds.joinCode}
          label="Add a machine"
          isMain
          showsReply
          rules={RULES}
          about={
            <>
              Makes a code. Start <Code>granary cloud --join CODE</Code> on the other machine with it.
            </>
          }
        />
      </PageHead>
      {list.isPending && <Loading />}
      {list.isError && <Failed error={list.error} retry={() => void list.refetch()} />}
      {list.data?.data.length === 0 && <Empty title="There are no clouds.">Add a machine: it joins with a code.</Empty>}
      <Stack>
        {list.data?.data.map((cloud) => (
          <Cloud key={cloud.id} cloud={cloud} />
        ))}
      </Stack>
    </>
  );
}

function Cloud({ cloud }: { readonly cloud: PortalCloud }) {
  const id = Number(cloud.id);
  const actions = [
    action({
      op: portal.clouds.update,
      label: 'Change',
      input: { id },
      start: { name: cloud.name, enabled: cloud.enabled === 'true' },
      labels: CLOUD_LABELS,
      rules: RULES,
      about: 'The address and the key are those that `granary cloud` shows; they are checked before anything changes.',
    }),
    action({
      op: portal.clouds.recoverArrays,
      label: 'Recover its arrays',
      input: { id },
      about: 'Takes up arrays that the cloud hosts and this portal does not know, as after a restore from a backup.',
    }),
    action({
      op: portal.clouds.adopt,
      label: 'Adopt',
      input: { id },
      about: 'The cloud belongs to this portal from now on, although it belonged to another.',
    }),
    action({
      op: portal.clouds.delete,
      label: 'Remove',
      input: { id },
      destroys: cloud.name,
      about: 'Only a cloud that hosts no array and has no provider can be removed.',
    }),
  ];
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Group gap="xs">
          <Title order={2} size="h4">
            {cloud.name}
          </Title>
          <State of={cloud.enabled === 'true' ? 'enabled' : 'closed'} />
        </Group>
        <ActionMenu label={cloud.name} actions={actions} />
      </Group>
      <Facts
        of={[
          ['Zones', cloud.zones.map(({ allocation_zone_disp_name: name }) => name).join(', ')],
          ['Fewest drives of an array', cloud.minimum_drives],
          ['Object storage', cloud.objs.enabled ? 'yes' : 'no'],
          ['Cache', cloud.flash_cache.enabled ? `in steps of ${gigabytes(cloud.flash_cache.increment_gb)}` : 'no'],
        ]}
      />
      <Accordion mt="md" variant="contained">
        <Accordion.Item value="drives">
          <Accordion.Control>{cloud.drive_types.length} drive types</Accordion.Control>
          <Accordion.Panel>
            <DriveTypes id={id} />
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="engines">
          <Accordion.Control>{cloud.engine_types.length} engines</Accordion.Control>
          <Accordion.Panel>
            <Engines cloud={cloud} />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Card>
  );
}

function DriveTypes({ id }: { readonly id: number }) {
  const types = useRead(portal.driveTypes.list, { id });
  if (types.isPending) return <Loading />;
  if (types.isError) return <Failed error={types.error} retry={() => void types.refetch()} />;
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Key</Table.Th>
            <Table.Th ta="right">Size</Table.Th>
            <Table.Th ta="right">USD per hour</Table.Th>
            <Table.Th>Offered</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {types.data.drive_types.map((type) => (
            <Table.Tr key={type.id}>
              <Table.Td>{type.name}</Table.Td>
              <Table.Td>{type.key}</Table.Td>
              <Table.Td ta="right">{gigabytes(type.display_capacity_gb)}</Table.Td>
              <Table.Td ta="right">{type.hourly_price_usd ?? '–'}</Table.Td>
              <Table.Td>{type.enabled ? 'yes' : 'no'}</Table.Td>
              <Table.Td ta="right">
                <ActionButton
                  op={portal.driveTypes.update}
                  label="Change"
                  isSmall
                  input={{ cloud_id: id, drive_type_id: type.id }}
                  start={{ name: type.name, enabled: type.enabled }}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Engines({ cloud }: { readonly cloud: PortalCloud }) {
  return (
    <Stack gap="xs">
      {cloud.engine_types.map((engine) => (
        <Text key={engine.key} size="sm">
          <b>{engine.name}</b> ({engine.key}): {engine.specs}, up to {engine.max_drives} drives,{' '}
          {gigabytes(engine.cache.base_cache_gb)} of cache
        </Text>
      ))}
    </Stack>
  );
}
