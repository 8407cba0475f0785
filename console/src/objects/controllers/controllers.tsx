import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { ActionButton } from '../../contract/action.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, State } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { Metering } from '../metering/figures.tsx';
import { AddProxy } from '../policies/grow.tsx';
import type { BalancerGroup, Controller } from '../records.ts';

const columns: readonly Column<Controller>[] = [
  {
    name: 'name',
    heading: 'Controller',
    value: ({ name }) => name,
    cell: ({ name }) => <PageLink to={`/controllers?of=${name}`}>{name}</PageLink>,
  },
  { name: 'status', heading: 'State', value: ({ status }) => status, cell: ({ status }) => <State of={status} /> },
  {
    name: 'serves',
    heading: 'Serves',
    value: ({ proxy_state: state }) => state,
    cell: ({ proxy_state: state }) => (state === 'OBJ_NORMAL' ? 'requests' : state),
  },
  { name: 'role', heading: 'Role', isExtra: true, value: ({ role }) => role, cell: roleOf },
  {
    name: 'integrity',
    heading: 'Services',
    isExtra: true,
    value: ({ integrity }) => integrity,
    cell: ({ integrity }) => <State of={integrity} />,
  },
  { name: 'node', heading: 'Node', isExtra: true, value: ({ storage_node: n }) => n, cell: (one) => one.storage_node },
  {
    name: 'zone',
    heading: 'Zone',
    isExtra: true,
    value: zoneOf,
    cell: zoneOf,
  },
  {
    name: 'address',
    heading: 'Address',
    isExtra: true,
    value: ({ fe_ip: ip }) => ip,
    cell: ({ fe_ip: ip }) => ip ?? '–',
  },
];

function roleOf({ role, manager_role: manager }: Controller): string {
  const does = role === 'proxy' ? 'serves requests' : 'serves requests and repairs drives';
  return manager === 'ring master' ? `${does}; decides where objects are placed` : does;
}

function zoneOf({ allocation_zone: zone, allocation_zone_display_name: title }: Controller): string {
  return title ?? zone;
}

/** Virtual controllers, and the address they share. */
export default function Controllers() {
  const controllers = useRead(objects.virtualControllers.list, {});
  const groups = useRead(objects.loadBalancerGroups.list, {});
  const [of] = useAddressText('of');
  const proxies = controllers.data?.vcs.filter(({ role }) => role === 'proxy') ?? [];
  return (
    <>
      <PageHead
        title="Controllers"
        about="Virtual controllers answer S3 and Swift. Those that only pass requests on can be added and removed."
      >
        <AddProxy />
        {proxies.length > 0 && (
          <ActionButton
            op={objects.virtualControllers.removeProxies}
            label="Remove proxies"
            start={{ quantity: 1 }}
            fields={['quantity']}
            more={[]}
            destroys="proxies"
            about={`${proxies.length} of the controllers only pass requests on. No data is on them; open connections end.`}
          />
        )}
      </PageHead>
      <Reading of={controllers}>
        {({ vcs }) => (
          <DataTable
            label="Controllers"
            rows={vcs}
            columns={columns}
            rowKey={({ name }) => name}
            empty={<Empty title="No controller runs." />}
          />
        )}
      </Reading>
      {of !== '' && (
        <Section title={`Requests of ${of}`}>
          <Metering group="virtualControllers" id={of} />
        </Section>
      )}
      <Reading of={groups}>{({ lbgs }) => lbgs.map((group) => <Balancer key={group.name} group={group} />)}</Reading>
    </>
  );
}

function Balancer({ group }: { readonly group: BalancerGroup }) {
  return (
    <Section title={`Load balancer ${group.name}`}>
      <Facts
        of={[
          ['Address', group.ip_v4],
          ['IPv6 address', group.ip_v6],
          ['Active controller', group.master_vc],
          ['Its controllers', group.vcs.split(',').join(', ')],
          ['Zone', group.allocation_zone_display_name ?? group.allocation_zone],
          ['Virtual router', group.vrid],
        ]}
      />
      <Metering group="loadBalancerGroups" id={group.name} />
    </Section>
  );
}
