import { Popover, Stack, Text, UnstyledButton } from '@mantine/core';
import { useRef, useState } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionDialog } from '../../contract/action-dialog.tsx';
import type { ActionProps } from '../../contract/action-props.ts';
import { ActionButton, FormButton } from '../../contract/action.tsx';
import { ago, localTime, secondTime } from '../../parts/format.ts';
import { Empty } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import type { Snapshot, Volume } from '../records.ts';
import { snapshotName } from '../volumes/actions.tsx';
import { snapshotActions, takenAt } from './actions.ts';
import { clusters, type Cluster } from './clusters.ts';
import { SnapshotTable } from './table.tsx';

/** A volume's snapshots by the moment they were taken, from the oldest to now, each with what can be done with it. */
export function TimeLine({ volume }: { readonly volume: Volume }) {
  const reading = useRead(array.snapshots.listOfGroup, { volume_cg_id: volume.cg_name });
  const isAttached = volume.server_ext_names !== '';
  return (
    <Reading of={reading}>
      {({ snapshots }) => {
        if (snapshots.length === 0) return <NoSnapshots volume={volume} />;
        return (
          <>
            <Line snapshots={snapshots} isAttached={isAttached} />
            <SnapshotTable rows={snapshots} prefix="snap" isAttached={() => isAttached} empty={null} />
          </>
        );
      }}
    </Reading>
  );
}

function NoSnapshots({ volume }: { readonly volume: Volume }) {
  return (
    <Empty
      title="There are no snapshots of it yet."
      action={
        <ActionButton
          op={array.snapshots.create}
          label="Take a snapshot"
          input={{ volume_cg_id: volume.cg_name }}
          labels={{ display_name: 'Name' }}
          start={{ display_name: snapshotName(new Date()) }}
        />
      }
    >
      A snapshot is taken at once, and the volume can be restored to it.
    </Empty>
  );
}

function Line({ snapshots, isAttached }: { readonly snapshots: readonly Snapshot[]; readonly isAttached: boolean }) {
  const now = Date.now();
  const groups = clusters(snapshots, takenAt, now);
  const first = groups[0];
  return (
    <div className="time-line" role="group" aria-label="Snapshots on a time line">
      <div className="time-line-axis" aria-hidden="true" />
      {groups.map((group) => (
        <Mark key={group.members[0]?.name} group={group} isAttached={isAttached} />
      ))}
      {first?.members[0] && <span className="time-line-from">{localTime(takenAt(first.members[0]))}</span>}
      <span className="time-line-to">now</span>
    </div>
  );
}

/** One snapshot, or several that are too close to tell apart. */
function Mark({ group, isAttached }: { readonly group: Cluster<Snapshot>; readonly isAttached: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState<ActionProps<never>>();
  const mark = useRef<HTMLButtonElement>(null);
  const { members, at } = group;
  const [one] = members;
  if (!one) return null;
  const label =
    members.length === 1
      ? `${one.display_name}, ${secondTime(takenAt(one))}`
      : `${members.length} snapshots, ${ago(takenAt(one))}`;
  const choose = (action: ActionProps<never>) => {
    // The list closes, because a click in the form would be one beside the list; the form gives the focus back to the mark.
    mark.current?.focus();
    setOpen(false);
    setChosen(action);
  };
  return (
    <>
      <Popover opened={isOpen} onChange={setOpen} withArrow trapFocus width={280}>
        <Popover.Target>
          <UnstyledButton
            ref={mark}
            className="time-line-mark"
            style={{ left: `${at * 100}%` }}
            onClick={() => setOpen(!isOpen)}
            aria-label={label}
            aria-expanded={isOpen}
            title={label}
          >
            {members.length > 1 ? members.length : ''}
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown aria-label={label}>
          <Stack gap="xs" mah={320} className="nav-scroll">
            {members.map((snapshot) => (
              <div key={snapshot.name}>
                <Text size="sm" fw={600}>
                  {snapshot.display_name}
                </Text>
                <Text size="xs" c="dimmed" mb={4}>
                  {secondTime(takenAt(snapshot))}
                </Text>
                <Stack gap={4}>
                  {snapshotActions(snapshot, isAttached)
                    .filter((_, index) => members.length === 1 || index < 2)
                    .map((one) => (
                      <FormButton key={one.label} {...one} isSmall onClick={() => choose(one)} />
                    ))}
                </Stack>
              </div>
            ))}
          </Stack>
        </Popover.Dropdown>
      </Popover>
      {chosen && <ActionDialog {...chosen} close={() => setChosen(undefined)} />}
    </>
  );
}
