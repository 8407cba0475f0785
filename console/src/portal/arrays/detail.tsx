import { Alert, Button, Card, Grid, Group, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { portal } from '../../api/portal.ts';
import { act, useRead } from '../../api/queries.ts';
import { usePlace } from '../../api/places.tsx';
import { useGo, useParam } from '../../app/base.ts';
import { useMay } from '../../app/identity.tsx';
import type { ActionProps } from '../../contract/action-props.ts';
import { ActionBar, ActionButton } from '../../contract/action.tsx';
import { gigabytes } from '../../parts/format.ts';
import { Failed, Loading, PageHead } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Copy, Facts, Secret, State, Time, Working } from '../../parts/small.tsx';
import type { Reply } from '../../api/operations.ts';
import { actionsOf } from './actions.ts';
import { useActionFacts } from './facts.ts';
import { Cost } from './cost.tsx';
import { isWaiting, manageAddress, reasonOfDenial, stateWords, type PortalArray } from './record.ts';

type ShownArray = Reply<typeof portal.arrays.get.endpoint>['data'];

/** The record of an array at the portal: what it is, what it costs to keep, and the way into it. */
export default function ArrayDetail() {
  const id = Number(useParam('arrayId'));
  const reading = useRead(portal.arrays.get, { array_id: id });
  if (reading.isPending) return <Loading />;
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  const array = reading.data.data;
  const waits = isWaiting(array);
  const denial = reasonOfDenial(array);
  return (
    <Stack>
      <Head array={array} />
      {array.locked_down && (
        <Alert color="yellow" title="Locked down">
          The array serves its data, and nothing of it is changed until an administrator releases it.
        </Alert>
      )}
      {waits && (
        <Alert color="blue" title="The order waits for an administrator">
          {array.status_message}. Nothing is billed until then. <PageLink to="/requests">Requests</PageLink>
        </Alert>
      )}
      {array.progress < 100 && !waits && array.status !== 'failed' && (
        <Working value={array.progress} label={array.status_message ?? array.status} />
      )}
      {array.status === 'deleted' && (
        <Alert color="yellow" title="Deleted">
          It can be undeleted until <Time at={array.undelete_until} />; then all its data is removed.
        </Alert>
      )}
      {array.status === 'hibernated' && (
        <Alert color="yellow" title="Hibernated">
          It is stopped and keeps its data; only its drives and public address are billed. Restore it to use it again.
        </Alert>
      )}
      {denial !== undefined && (
        <Alert color="red" title="The order was denied">
          <Text size="sm">Reason: {denial}</Text>
          <Text size="sm">
            Nothing was made, and nothing is billed. <PageLink to="/requests">Requests</PageLink>
          </Text>
        </Alert>
      )}
      {array.status === 'failed' && denial === undefined && (
        <Alert color="red" title="The array failed">
          {array.status_message}
        </Alert>
      )}
      <Grid>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <What array={array} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Way array={array} />
        </Grid.Col>
      </Grid>
      <Cost array={array} />
      <Interfaces array={array} />
      {array.storage_policies && <Policies array={array} />}
      {array.product === 'object_storage' && <PublicService array={array} />}
    </Stack>
  );
}

function Head({ array }: { readonly array: ShownArray }) {
  const factsOf = useActionFacts();
  const listed = { ...array, drives: Object.keys(array.drives) } as unknown as PortalArray;
  return (
    <PageHead
      title={array.name}
      about={
        <Group gap="xs">
          <State of={stateWords(array)} />
          <span>{array.type}</span>
          {array.description !== null && <span>{array.description}</span>}
        </Group>
      }
    >
      {array.status === 'created' && (
        <Button component={Link} to={manageAddress(array)}>
          Open the array
        </Button>
      )}
      <HeadActions array={array} actions={actionsOf(listed, factsOf(array))} />
    </PageHead>
  );
}

/** What people come for as buttons, the rest by what it is about. */
function HeadActions({ array, actions }: { readonly array: ShownArray; readonly actions: ActionProps<never>[] }) {
  const isMain = ({ label }: ActionProps<never>) =>
    ['Add drives', 'Hibernate', 'Restore', 'Undelete', 'Try again', 'Withdraw the order'].includes(label);
  const go = useGo();
  const all = actions.map((one) => (one.takesAway === true ? { ...one, onDone: () => go('/arrays') } : one));
  return (
    <ActionBar
      buttons={all.filter(isMain)}
      menu={all.filter((one) => !isMain(one))}
      label={array.name}
      // The way back to a working array; withdrawing is none.
      isMain={array.status !== 'created' && array.status !== 'creating'}
    />
  );
}

function What({ array }: { readonly array: ShownArray }) {
  const cloud = useActionFacts()(array).cloud;
  const driveName = (type: string) => cloud?.drive_types.find(({ key }) => key === type)?.name ?? type;
  const zoneName = (zone: string) =>
    cloud?.zones.find(({ allocation_zone_name: name }) => name === zone)?.allocation_zone_disp_name ?? zone;
  const drives = Object.entries(array.drives).map(([type, count]) => `${count} × ${driveName(type)}`);
  const isBlock = array.product !== 'object_storage';
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="sm">
        What it is
      </Title>
      <Facts
        of={[
          ['Provider', array.provider.name],
          ['Zones', array.allocation_zones.map(zoneName).join(', ') || '–'],
          ['Drives', drives.join(', ')],
          ...(isBlock ? blockFacts(array) : []),
          ['Ordered', <Time at={array.time_created_gmt} />],
          ['Internal name', array.internal_name],
        ]}
      />
    </Card>
  );
}

/** What only arrays of disks and shares have. */
function blockFacts(array: ShownArray): (readonly [string, ReactNode])[] {
  return [
    ['Engine', array.engine && `${array.engine.name}, ${array.engine.specs}`],
    ['App engine', array.app_engine && `${array.app_engine.name}, ${array.app_engine.specs}`],
    ['Cache', cacheWords(array.cache)],
    ['File lifecycle', array.flc_enabled ? 'yes' : 'no'],
    ['Two iSCSI targets', array.iscsi_dual_target_mode_enabled ? 'yes' : 'no'],
  ];
}

/** What was ordered, and what the array could take of it. */
function cacheWords({ total_gb: total, included_gb: included, in_effect_gb: used }: ShownArray['cache']): string {
  const ordered = `${gigabytes(total)}, of which ${gigabytes(included)} came with the engine`;
  if (used === null || used >= total) return ordered;
  return `${ordered}; ${gigabytes(used)} are in effect, as the memory of the machine allows`;
}

function Way({ array }: { readonly array: ShownArray }) {
  const place = usePlace('portal');
  const reveal = async () => {
    const { value } = await act(portal.arrays.get, place, { array_id: array.id }, { reveal: true });
    return value?.data.initial_passcode ?? null;
  };
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="sm">
        How to reach it
      </Title>
      <Facts
        of={[
          ['Management', array.management_url === null ? null : <WithCopy text={array.management_url} />],
          ['Address', array.ip_address === null ? null : <WithCopy text={array.ip_address} />],
          ...(array.ipv6_address === null ? [] : [['IPv6 address', array.ipv6_address] as const]),
          // An order that waits, was denied or was withdrawn has none.
          ...(array.status === 'creating' || array.nova_id === null
            ? []
            : [['First password', <Secret reveal={reveal} label="the first password" />] as const]),
        ]}
      />
    </Card>
  );
}

function WithCopy({ text }: { readonly text: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      {text} <Copy text={text} />
    </Group>
  );
}

function Interfaces({ array }: { readonly array: ShownArray }) {
  if (array.virtual_network_interfaces.length === 0) return null;
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="sm">
        Networks
      </Title>
      <Table.ScrollContainer minWidth={500}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Network</Table.Th>
              <Table.Th>VLAN</Table.Th>
              <Table.Th>Address</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {array.virtual_network_interfaces.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td>{one.name}</Table.Td>
                <Table.Td>{one.vlan_id}</Table.Td>
                <Table.Td>
                  {one.ip_address} {one.ipv6_address}
                </Table.Td>
                <Table.Td>{one.bound ? 'listens' : (one.problem ?? 'does not listen')}</Table.Td>
                <Table.Td ta="right">
                  <ActionButton
                    op={portal.arrays.removeInterface}
                    label="Leave"
                    isSmall
                    input={{ array_id: array.id, vni_ids: [one.id] }}
                    about={`The array gives up ${one.ip_address}. Servers that use it there lose it.`}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}

function Policies({ array }: { readonly array: ShownArray }) {
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="sm">
        Storage policies
      </Title>
      {array.storage_policies?.map((policy) => (
        <Text key={policy.policy_name}>
          {policy.display_name}
          {policy.display_name !== policy.storage_policy_type && `: ${policy.storage_policy_type}`}
        </Text>
      ))}
    </Card>
  );
}

function PublicService({ array }: { readonly array: ShownArray }) {
  const may = useMay();
  const input = { array_id: array.id };
  const isOffered = array.public_objs !== null && array.public_objs !== undefined;
  const canOffer = array.status === 'created' && may(portal.publicObjects.create);
  if (!isOffered && !canOffer) return null;
  return (
    <Card withBorder>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Public object service
        </Title>
        <Group gap="xs">
          {!isOffered && (
            <ActionButton op={portal.publicObjects.create} label="Offer it to the public" isSmall input={input} />
          )}
          {isOffered && <ActionButton op={portal.publicObjects.update} label="Change" isSmall input={input} />}
          {isOffered && (
            <ActionButton
              op={portal.publicObjects.delete}
              label="Remove"
              isSmall
              input={input}
              destroys={array.public_objs?.account_name ?? array.name}
              about="The account of the service goes with all it holds."
            />
          )}
        </Group>
      </Group>
      {isOffered ? (
        <Facts
          of={[
            ['Account', array.public_objs?.account_name],
            ['Address', array.public_objs?.ip],
            ['Host', array.public_objs?.host],
            ['Accounts open by themselves', array.public_objs?.auto_approve ? 'yes' : 'no'],
            ['Price', array.public_objs && `${array.public_objs.price} USD per hour`],
          ]}
        />
      ) : (
        <Text c="dimmed" size="sm">
          Strangers can ask for accounts once the array is offered under a name of its own.
        </Text>
      )}
    </Card>
  );
}
