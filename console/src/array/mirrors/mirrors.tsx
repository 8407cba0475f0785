import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { action } from '../../contract/action-props.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { bytes } from '../../parts/format.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import { StateOrWork } from '../drives/columns.tsx';
import type { Mirror } from '../overview/standing.ts';
import { useVolumes } from '../volumes/all.ts';
import { Migration } from '../volumes/migration.tsx';
import { NewMirror } from './new-mirror.tsx';

const MIGRATIONS_MAX = 20;

export default function Mirrors() {
  const reading = useRead(array.mirrorJobs.list, {});
  return (
    <>
      <PageHead
        title="Mirrors and migrations"
        about="Copies of volumes on other arrays, brought up to date by snapshots, and volumes on their way to another pool."
      >
        <NewMirror />
      </PageHead>
      <Section title="Mirrors">
        <Reading of={reading}>{({ array_mirror_jobs: jobs }) => <MirrorTable jobs={jobs} />}</Reading>
      </Section>
      <Migrations />
    </>
  );
}

function MirrorTable({ jobs }: { readonly jobs: readonly Mirror[] }) {
  const hasRemote = (useRead(array.remoteArrays.list, {}).data?.remote_arrays ?? []).length > 0;
  return (
    <DataTable
      label="Mirrors"
      rows={jobs}
      rowKey={({ job_name }) => job_name}
      empty={
        <Empty title="There are no mirrors yet.">
          {hasRemote ? (
            'Mirror a volume to a pool of the other array.'
          ) : (
            <>
              Add the other array under <PageLink to="/remote-arrays">Remote arrays</PageLink>, then mirror a volume to
              it.
            </>
          )}
        </Empty>
      }
      columns={[
        {
          name: 'mirror',
          heading: 'Mirror',
          cell: ({ job_display_name }) => job_display_name,
          value: ({ job_display_name }) => job_display_name,
        },
        {
          name: 'state',
          heading: 'State',
          cell: ({ status }) => <StateOrWork of={status} />,
          value: ({ status }) => status,
        },
        { name: 'from', heading: 'From', cell: ({ src }) => sideOf(src), value: ({ src }) => sideOf(src) },
        { name: 'to', heading: 'To', cell: ({ dst }) => sideOf(dst), value: ({ dst }) => sideOf(dst) },
        {
          name: 'rpo',
          heading: 'Holds the data of',
          cell: ({ rpo }) => (rpo === null ? 'nothing yet' : <Time at={rpo} isRelative />),
          value: ({ rpo }) => rpo,
        },
        {
          name: 'rate',
          heading: 'Rate',
          align: 'right',
          isExtra: true,
          cell: ({ avg_sync_rate_kb_sec }) => `${bytes(avg_sync_rate_kb_sec * 1024)}/s`,
          value: ({ avg_sync_rate_kb_sec }) => avg_sync_rate_kb_sec,
        },
        {
          name: 'actions',
          heading: '',
          align: 'right',
          cell: (job) => <ActionMenu label={job.job_display_name} actions={mirrorActions(job)} />,
        },
      ]}
    />
  );
}

function sideOf({ array_display_name, cg_display_name }: Mirror['src']): string {
  return `${cg_display_name} on ${array_display_name}`;
}

/** A broken one has ended: it is listed for a while, and nothing can be done with it. */
function mirrorActions({ job_name: id, job_display_name: name, status }: Mirror) {
  if (status === 'Broken') return [];
  const run =
    status === 'Paused'
      ? action({ op: array.mirrorJobs.continue, label: 'Resume', input: { id } })
      : action({ op: array.mirrorJobs.pause, label: 'Pause', input: { id } });
  return [
    run,
    action({ op: array.mirrorJobs.setRateLimit, label: 'Limit its rate', input: { id } }),
    action({
      op: array.mirrorJobs.break,
      label: 'Break',
      input: { id },
      destroys: name,
      fields: ['inherited'],
      about: 'The mirror ends; its destination becomes a volume like any other.',
    }),
  ];
}

/** There is no list of migrations: they are found by the volumes that are on their way. */
function Migrations() {
  const moving = useVolumes().data?.filter(({ status }) => status === 'Migrating') ?? [];
  if (moving.length === 0) return null;
  return (
    <Section title="Migrations">
      {moving.slice(0, MIGRATIONS_MAX).map(({ name, display_name, cg_name }) => (
        <div key={name}>
          <PageLink to={`/volumes/${name}`}>{display_name}</PageLink>
          <Migration group={cg_name} />
        </div>
      ))}
      {moving.length > MIGRATIONS_MAX && <div>and {moving.length - MIGRATIONS_MAX} more</div>}
    </Section>
  );
}
