import type { AnsweredCall } from '@granary/kernel';
import { callEntry, requestEntry } from './access-logs/entry.ts';
import { accessLogMigrations } from './access-logs/migrations.ts';
import { accessLogRoutes } from './access-logs/routes.ts';
import { AccessLog } from './access-logs/service.ts';
import { bucketLogMigrations } from './bucket-logs/migrations.ts';
import { BucketLogs } from './bucket-logs/service.ts';
import type { Activity } from './engine/activity.ts';
import type { ObjectDriveService } from './drives/service.ts';
import { ErrorAlerts } from './metering/error-alerts.ts';
import { RequestFigures } from './metrics/request-figures.ts';
import { meteringMigrations } from './metering/migrations.ts';
import { meteringRoutes } from './metering/routes.ts';
import { Metering } from './metering/service.ts';
import type { createPeople } from './people.ts';
import type { PolicyService } from './policies/service.ts';
import type { ArraySettings } from './settings/service.ts';
import type { ObjectsTools } from './tools.ts';
import { usageReportRoutes } from './usage-reports/routes.ts';
import { UsageReports } from './usage-reports/service.ts';
import type { VirtualControllerService } from './virtual-controllers/service.ts';

interface Parts {
  readonly settings: ArraySettings;
  readonly people: Pick<ReturnType<typeof createPeople>, 'accounts' | 'users' | 'deletion'>;
  readonly drives: ObjectDriveService;
  readonly controllers: VirtualControllerService;
  readonly policies: PolicyService;
}

/** What is kept of requests once they are answered: figures over time, what is billed, and who asked what. */
export function createRequestAccounting(tools: ObjectsTools, parts: Parts) {
  const { clock, engine, commit, log, openStore } = tools;
  const { settings, people, policies } = parts;
  const meteringStore = openStore('metering.db', meteringMigrations);
  const accessLogStore = openStore('access-log.db', accessLogMigrations);
  const flush = () => engine.flush();
  const chosen = () => settings.current().settings;
  const uuids = new Map<number, string>();
  const driveUuid = (number: number) => {
    // Numbers are given once, so a known one stays valid; a drive that has left may still report activity.
    if (!uuids.has(number)) for (const drive of engine.drives?.list() ?? []) uuids.set(drive.number, drive.uuid);
    return uuids.get(number);
  };
  const metering = new Metering({ store: meteringStore, clock, log, driveUuid });
  const accessLog = new AccessLog({ store: accessLogStore, log });
  const bucketLogStore = openStore('bucket-log.db', bucketLogMigrations);
  const bucketLogs = new BucketLogs({
    ...tools,
    store: bucketLogStore,
    catalogue: engine.catalogue,
    region: () => chosen().region,
  });
  const alerts = new ErrorAlerts({ ...tools, settings: chosen });
  const requestFigures = new RequestFigures();
  const reports = new UsageReports({
    ...tools,
    metering,
    flush,
    settings: chosen,
    policies: () =>
      policies.list().map(({ name, report }) => ({
        index: report.policy.index,
        name,
        displayName: report.policy.name,
      })),
    stored: (account, from, to) => engine.catalogue.storedOver(account, from, to),
  });
  people.deletion.onCleanUp(async (account) => {
    await flush();
    await metering.dropAccount(account);
    await commit('dropUsage', { account });
  });
  return {
    requestFigures,
    record(controller: string, activity: Activity): void {
      metering.record(controller, activity);
      requestFigures.add(activity.requests);
      alerts.add(activity.requests);
      for (const request of activity.requests) {
        accessLog.add(requestEntry(request, controller));
        if (request.logged) bucketLogs.add(request.logged, request.at);
      }
    },
    recordDrives: (shares: Activity['drives']) => metering.recordDrives(shares),
    onAnswered: (call: AnsweredCall) => accessLog.add(callEntry(call, clock.now())),
    metered: meteringRoutes({ metering, flush }, { ...parts, ...people }),
    handlers: {
      usageReports: usageReportRoutes(reports),
      accessLogs: accessLogRoutes(accessLog, flush),
    },
    start(): void {
      metering.start();
      meteringStore.keepCopies({ log });
      accessLog.start();
      bucketLogs.start();
    },
    /** Before the engine stops. */
    stop: () => bucketLogs.stop(),
    /** After the last request is counted: everything is on disk, and the files are closed. */
    async finish(): Promise<void> {
      const ends = await Promise.allSettled([metering.finish(), accessLog.finish(), bucketLogs.finish()]);
      await meteringStore.stopCopies();
      meteringStore.close();
      accessLogStore.close();
      bucketLogStore.close();
      for (const end of ends) if (end.status === 'rejected') log.error({ error: end.reason }, 'figures were lost');
    },
  };
}
