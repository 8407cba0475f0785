import { Alert, Group, Text } from '@mantine/core';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../contract/action.tsx';
import { bytes, percent } from '../../parts/format.ts';
import { Working } from '../../parts/small.tsx';

const ASK_EVERY_MS = 3000;

/** How far the move of a volume to another pool is, and what can be done about it. */
export function Migration({ group }: { readonly group: string }) {
  const input = { migration_cg_id: group };
  const { data } = useRead(array.migrationJobs.get, input, { everyMs: ASK_EVERY_MS });
  if (!data) return null;
  const job = data.migration_job;
  const share = percent(job.already_migrated_mb, job.total_capacity_to_migrate_mb);
  return (
    <Alert color="blue" variant="light" title={`Moving to ${job.dst_pool_display_name}: ${job.status}`} mb="md">
      <Working value={share} label={`From ${job.src_pool_display_name} to ${job.dst_pool_display_name}`} />
      <Group justify="space-between" mt="xs">
        <Text size="sm">
          {bytes(job.cur_sync_rate_kb_sec * 1024)} a second
          {job.remaining_time_seconds === null ? '' : `, about ${Math.ceil(job.remaining_time_seconds / 60)} min to go`}
        </Text>
        <Group>
          {job.status === 'Running' && (
            <ActionButton op={array.migrationJobs.pause} label="Pause" input={input} isSmall />
          )}
          {job.status === 'Paused' && (
            <ActionButton op={array.migrationJobs.continue} label="Resume" input={input} isSmall />
          )}
          <ActionButton op={array.migrationJobs.abort} label="Cancel the migration" input={input} isSmall />
        </Group>
      </Group>
    </Alert>
  );
}
