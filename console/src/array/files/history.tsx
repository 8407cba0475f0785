import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../contract/action.tsx';
import { Empty } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import { StateOrWork } from '../drives/columns.tsx';
import { secondTime } from '../../parts/format.ts';
import { takenAt } from '../snapshots/actions.ts';
import type { Volume } from '../records.ts';

/** Earlier versions of the files of a share, and the files that were restored from them. */
export function FileHistory({ volume }: { readonly volume: Volume }) {
  const id = volume.name;
  const snapshots = useRead(array.snapshots.listOfGroup, { volume_cg_id: volume.cg_name }).data?.snapshots ?? [];
  const history = useRead(array.volumes.listFileHistory, { id }).data?.file_histories ?? [];
  const restores = useRead(array.fileHistory.listRestores, { id });
  const sources = new Map([...history, ...snapshots].map((one) => [one.name, one]));
  const choices = [...sources.values()].map((one) => ({
    value: one.name,
    label: `${one.display_name} · ${secondTime(takenAt(one))}`,
  }));
  return (
    <Section
      title="File history"
      tools={
        <>
          {choices.length > 0 && (
            <ActionButton
              op={array.fileHistory.restore}
              label="Restore a file"
              isSmall
              input={{ id }}
              fields={['snapshot', 'path', 'to_path']}
              choices={{ snapshot: choices }}
              labels={{ path: 'File', to_path: 'Write it to' }}
            />
          )}
          {history.length > 0 && (
            <ActionButton
              op={array.volumes.deleteFileHistory}
              label="Delete the history"
              isSmall
              input={{ volume_id: id }}
              destroys={volume.display_name}
            />
          )}
        </>
      }
    >
      <Reading of={restores}>
        {({ file_restores: files }) => (
          <DataTable
            label="Restored files"
            prefix="file"
            rows={files}
            rowKey={({ name }) => name}
            empty={
              <Empty title="No file was restored yet.">
                {choices.length === 0
                  ? 'Earlier versions come from snapshots. Attach a policy for earlier versions, or take a snapshot.'
                  : 'Choose “Restore a file” and the snapshot that has the version you want.'}
              </Empty>
            }
            columns={[
              { name: 'path', heading: 'File', cell: ({ path }) => path, value: ({ path }) => path },
              {
                name: 'to',
                heading: 'Destination',
                isExtra: true,
                cell: ({ to_path }) => to_path,
                value: ({ to_path }) => to_path,
              },
              {
                name: 'state',
                heading: 'State',
                cell: ({ status, problem }) =>
                  problem === null ? <StateOrWork of={status} /> : `${status}: ${problem}`,
                value: ({ status }) => status,
              },
              { name: 'when', heading: 'When', isExtra: true, cell: ({ created_at }) => <Time at={created_at} /> },
            ]}
          />
        )}
      </Reading>
    </Section>
  );
}
