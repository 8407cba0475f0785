import { formatIso, formatUtc, Submitted, type Clock, type Jobs } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import { answerWhenDone } from '../waiting.ts';
import type { BegunDirectory, QuotaProjectService } from './projects.ts';
import type { QuotaService } from './service.ts';
import { limitText, projectView, quotaView } from './view.ts';

export function quotaRoutes(quotas: QuotaService, clock: Clock): ArrayHandlers<'quotas'> {
  return {
    list: async ({ id, scope, ...page }) => {
      const { quotas: found, count } = await quotas.list(id, scope, page);
      // Usage is counted with every change, so it is of this moment.
      const now = clock.now();
      return { quotas: found.map(quotaView), updated: formatUtc(now), updated_iso: formatIso(now), count };
    },
    get: async ({ id, scope, quota_id, quota_nas: nas, quota_ad: ad }) => ({
      value: limitText(await quotas.get(id, scope, { id: quota_id, nas, ad })),
    }),
    set: async ({ id, quotas: changes }, { actor }) => ({ errors: await quotas.set(id, changes, actor.username) }),
    setState: async ({ id, uquota, gquota, pquota, force }, { actor }) => {
      const change = {
        ...(uquota !== undefined && { user: uquota === 'on' }),
        ...(gquota !== undefined && { group: gquota === 'on' }),
        ...(pquota !== undefined && { project: pquota === 'on' }),
      };
      await quotas.setState(id, change, force, actor.username);
      return { vol_name: id };
    },
    import: async ({ id, scope, file_format: format, file: { bytes } }, { actor }) => {
      await quotas.import(id, scope, { format, bytes }, actor.username);
      return {};
    },
  };
}

export function quotaProjectRoutes(projects: QuotaProjectService, jobs: Jobs): ArrayHandlers<'quotaProjects'> {
  return {
    list: ({ id, ...page }) => {
      const { projects: found, count } = projects.list(id, page);
      return {
        projects: found.map((project) => projectView(project, (directory) => projects.progressOf(directory))),
        count,
      };
    },
    create: async ({ id, display_name, directories = [], timeout }, { actor }) => {
      const { begun, errors } = await projects.createWith(id, display_name, directories, actor.username);
      const failed = await failuresOf(jobs, begun, timeout);
      return failed === undefined ? new Submitted() : { errors: [...errors, ...failed] };
    },
    delete: async ({ id, project_id, force, timeout }, { actor }) => {
      const job = await projects.delete(id, project_id, force, actor.username);
      return answerWhenDone(jobs, job, timeout, () => ({}));
    },
    addDirectory: async ({ id, project_id, path, timeout }, { actor }) => {
      const { job } = await projects.addDirectory(id, project_id, path, actor.username);
      return answerWhenDone(jobs, job, timeout, () => ({}));
    },
    removeDirectory: async ({ id, project_id, path, timeout }, { actor }) => {
      const { job } = await projects.removeDirectory(id, project_id, path, actor.username);
      return answerWhenDone(jobs, job, timeout, () => ({}));
    },
  };
}

/** What could not be added and why; undefined when some of it is still under way as the time is up. */
async function failuresOf(
  jobs: Jobs,
  begun: readonly BegunDirectory[],
  timeoutSeconds: number,
): Promise<string[] | undefined> {
  const giveUpAt = performance.now() + timeoutSeconds * 1000;
  const failures: string[] = [];
  for (const { path, job } of begun) {
    const ended = await jobs.wait(job, timeoutSeconds < 0 ? -1 : Math.max(0, giveUpAt - performance.now()));
    if (ended && ended.finishedAt === null) return undefined;
    if (ended?.state === 'failed') failures.push(`${path}: ${ended.error ?? 'The work failed.'}`);
  }
  return failures;
}
