import { endpoint, type Group } from '../endpoint.ts';
import { boolean, integer, page, withDefault } from '../params.ts';
import { int, listOf, nullable, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { creatorOf, signedIn } from './access.ts';
import { mirrorJobId } from './ids.ts';
import { count } from './shared.ts';

const MirrorSide = record('MirrorSide', {
  provider: str(),
  array_display_name: str(),
  cg_display_name: str(),
  cg_name: nullable(str('null on the destination')),
  pool_display_name: str(),
});

export const MirrorJob = record('MirrorJob', {
  job_name: str(),
  job_display_name: str(),
  src: MirrorSide,
  dst: MirrorSide,
  status: str('Idle, Syncing <n>%, Paused, Disconnected or Broken'),
  rpo: nullable(utc('The moment the destination holds the data of; null before the first sync')),
  wan_optimization: yesNo(),
  avg_sync_rate_kb_sec: int(),
  created_at: utc(),
  modified_at: utc(),
});

const jobNamed = response({ array_mirror_job_name: str() });

export const mirrorJobs = {
  list: endpoint('GET', '/mirror_jobs', {
    summary: 'List the mirrors this array is a side of',
    access: signedIn,
    params: page,
    reply: response({ array_mirror_jobs: listOf(MirrorJob), count }),
  }),
  get: endpoint('GET', '/mirror_jobs/{id}', {
    summary: 'Show one mirror',
    access: signedIn,
    params: { id: mirrorJobId },
    reply: response({ array_mirror_job: MirrorJob }),
    errors: ['job_not_found'],
  }),
  pause: endpoint('POST', '/mirror_jobs/{id}/pause', {
    summary: 'Pause a mirror, from its source',
    access: creatorOf('mirror_job'),
    params: { id: mirrorJobId },
    reply: jobNamed,
    errors: ['job_not_found', 'state_conflict'],
  }),
  continue: endpoint('POST', '/mirror_jobs/{id}/continue', {
    summary: 'Go on with a paused mirror, from its source',
    access: creatorOf('mirror_job'),
    params: { id: mirrorJobId },
    reply: jobNamed,
    errors: ['job_not_found', 'state_conflict'],
  }),
  break: endpoint('POST', '/mirror_jobs/{id}/break', {
    summary: 'End a mirror, from either side; its destination becomes a volume like any other',
    access: creatorOf('mirror_job'),
    params: {
      id: mirrorJobId,
      inherited: withDefault(boolean("Give the destination the source's WWID; block volumes only"), false),
    },
    reply: jobNamed,
    errors: ['job_not_found', 'state_conflict'],
  }),
  setRateLimit: endpoint('POST', '/mirror_jobs/{id}/rate_limit', {
    summary: 'Limit how fast a mirror sends',
    access: creatorOf('mirror_job'),
    params: { id: mirrorJobId, limit: integer('KB a second; 0 is no limit', { example: 10_240 }) },
    reply: jobNamed,
    errors: ['job_not_found', 'state_conflict'],
  }),
} satisfies Group;
