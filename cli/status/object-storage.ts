import type { ObjectsClient } from '@granary/client';
import type { ArrayReport, Finding } from './report.ts';

type Seen = Pick<ArrayReport, 'capacity' | 'used' | 'drives'> & { readonly findings: readonly Finding[] };
type Policy = Awaited<ReturnType<ObjectsClient['policies']['list']>>['policies'][number];

export async function inspectObjectStorage(client: ObjectsClient): Promise<Seen> {
  const [{ policies }, { disks }, { vcs }] = await Promise.all([
    client.policies.list(),
    client.drives.list(),
    client.virtualControllers.list(),
  ]);
  return {
    capacity: policies.reduce((sum, policy) => sum + policy.capacity, 0),
    used: policies.reduce((sum, policy) => sum + policy.used_capacity, 0),
    drives: disks.length,
    findings: [
      ...policies.flatMap(ofPolicy),
      ...disks
        .filter(({ status }) => status !== 'Normal')
        .map(({ display_name: name, status }) => failing(`drive ${name} is ${status}`)),
      ...vcs.filter(({ status }) => status === 'failed').map(({ name }) => failing(`controller ${name} has failed`)),
    ],
  };
}

function ofPolicy(policy: Policy): Finding[] {
  const name = `storage policy ${policy.display_name}`;
  const findings: Finding[] = [];
  if (policy.health_status !== 'normal')
    findings.push(
      failing(
        `${name} is ${policy.health_status}: ${policy.partition_count_degraded} partitions degraded, ${policy.partition_count_critical} critical`,
      ),
    );
  if (policy.capacity_mode !== 'normal')
    findings.push({ kind: 'full', what: `${name} is short of space: its capacity mode is ${policy.capacity_mode}` });
  if (policy.rebalance_status !== 'done')
    findings.push({ kind: 'underway', what: `${name} is rebalanced, ${policy.rebalance_percentage}% done` });
  return findings;
}

function failing(what: string): Finding {
  return { kind: 'failing', what };
}
