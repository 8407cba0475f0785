import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../contract/action.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';

/** Those that serve and those that stand by, with where servers find them. */
export function Controllers() {
  const reading = useRead(array.controllers.list, {});
  return (
    <Section
      title="Controllers"
      tools={
        <>
          <ActionButton op={array.controllers.setChap} label="CHAP of the array" isSmall />
          <ActionButton
            op={array.controllers.failover}
            label="Fail over"
            isSmall
            about="The standby takes over. Servers wait for a moment and go on."
          />
        </>
      }
    >
      <Reading of={reading}>
        {({ vcontrollers }) => (
          <DataTable
            label="Controllers"
            prefix="vc"
            rows={vcontrollers}
            rowKey={({ name }) => name}
            empty={null}
            columns={[
              { name: 'name', heading: 'Controller', cell: ({ display_name }) => display_name },
              { name: 'state', heading: 'State', cell: ({ state }) => <State of={state} /> },
              { name: 'address', heading: 'Address', cell: ({ iscsi_ip }) => iscsi_ip },
              { name: 'target', heading: 'Target', isExtra: true, cell: ({ target }) => target },
              { name: 'node', heading: 'Node', isExtra: true, cell: ({ sn_host }) => sn_host },
              { name: 'version', heading: 'Version', isExtra: true, cell: ({ software_ver }) => software_ver },
            ]}
          />
        )}
      </Reading>
    </Section>
  );
}
