import {
  CapacityHistory,
  ChangeFeed,
  changeRoutes,
  metricsTokenRoutes,
  webhookRoutes,
  WebhookService,
  type HostedConfiguration,
} from '@granary/kernel';
import { createRequestAccounting } from './request-accounting.ts';
import { capacityRoutes } from './capacities/routes.ts';
import { CapacityService } from './capacities/service.ts';
import { concerns } from './changes/concerns.ts';
import { EngineWatch } from './changes/watch.ts';
import { Certificates } from './certificates/service.ts';
import type { PolicyReport } from './engine/report.ts';
import { dataAddresses } from './engine/serving/addresses.ts';
import { destinationRoutes } from './destinations/routes.ts';
import { presignRoute } from './object-data/routes.ts';
import { ObjectData } from './object-data/service.ts';
import { DelegatedKeyService } from './delegated-keys/service.ts';
import { DestinationGrants } from './destinations/grants.ts';
import { DestinationService } from './destinations/service.ts';
import { driveName } from './drives/names.ts';
import { driveRoutes } from './drives/routes.ts';
import { ObjectDriveService } from './drives/service.ts';
import { EncryptionService } from './encryption/service.ts';
import { ExpiryService } from './expiry/service.ts';
import { InventoryTimes } from './inventory/service.ts';
import { forecastRoutes } from './forecasts/routes.ts';
import { ForecastService } from './forecasts/service.ts';
import { groupRoutes } from './load-balancer-groups/routes.ts';
import { messageRoutes } from './messages/routes.ts';
import { NotificationService } from './notifications/service.ts';
import { createPeople } from './people.ts';
import { policyRoutes } from './policies/routes.ts';
import { PolicyService } from './policies/service.ts';
import { ReplicationService } from './replication/service.ts';
import { searchRoutes } from './search/routes.ts';
import { SearchService } from './search/service.ts';
import { peopleSettingRoutes } from './settings/people-routes.ts';
import { settingsRoutes } from './settings/routes.ts';
import { ArraySettings } from './settings/service.ts';
import { SummaryService } from './summaries/service.ts';
import type { ObjectsTools } from './tools.ts';
import { TransitionService } from './transitions/service.ts';
import { controllerRoutes } from './virtual-controllers/routes.ts';
import { VirtualControllerService } from './virtual-controllers/service.ts';

export function createServices(tools: ObjectsTools) {
  const { store, events, configuration, engine, clock } = tools;
  const mayListEvents = ({ role }: { readonly role: string }) => role === 'objs_admin';
  const changes = new ChangeFeed({ ...tools, concerns, mayListEvents });
  const watch = new EngineWatch({ ...tools, feed: changes });
  const settings = new ArraySettings(tools);
  const people = createPeople(tools, settings);
  const delegatedKeys = new DelegatedKeyService(tools);
  const encryption = new EncryptionService(tools);
  const certificates = new Certificates({ ...tools, subject: () => subjectOf(configuration()) });
  const objectData = new ObjectData(tools, {
    settings: () => settings.current().settings,
    certificate: () => certificates.current(),
  });
  const times = new InventoryTimes(tools);
  const drives = new ObjectDriveService(tools);
  const controllers = new VirtualControllerService(tools);
  const policies = new PolicyService(tools, drives);
  const history = new CapacityHistory(tools);
  const forecasts = new ForecastService(tools, { policies, history });
  const capacities = new CapacityService(tools, { history, policies, accounts: people.accounts });
  const search = new SearchService(tools, { policies, drives, controllers });
  const summaries = new SummaryService({ drives, policies, forecasts, drivesOfArray: () => configuration().drives });
  const destinations = new DestinationService({ ...tools, nameServers: () => nameServersOf(settings) });
  const destinationGrants = new DestinationGrants(tools);
  const replication = new ReplicationService({
    ...tools,
    destinations,
    grants: destinationGrants,
  });
  const notifications = new NotificationService({ ...tools, settings: () => settings.current().settings });
  const expiry = new ExpiryService(tools);
  const transitions = new TransitionService(tools);
  const accounting = createRequestAccounting(tools, { settings, people, drives, controllers, policies });
  const { metered } = accounting;
  const webhooks = new WebhookService({
    ...tools,
    source: () => ({ service: 'objects', name: configuration().displayName, id: configuration().internalName }),
  });
  const policyAction = () => actionOf(engine.report().policies);
  const handlers = {
    ...people.handlers,
    ...accounting.handlers,
    accounts: { ...people.handlers.accounts, ...metered.accounts, capacity: capacityRoutes(capacities).account },
    users: { ...people.handlers.users, ...metered.users, presign: presignRoute(objectData) },
    drives: { ...driveRoutes(drives, times), ...metered.drives },
    virtualControllers: {
      ...controllerRoutes({ controllers, drives, times, configuration }),
      ...metered.virtualControllers,
    },
    loadBalancerGroups: { ...groupRoutes({ controllers, times, configuration }), ...metered.loadBalancerGroups },
    policies: {
      ...policyRoutes(policies, times, tools),
      ...metered.policies,
      capacity: capacityRoutes(capacities).policy,
    },
    settings: {
      ...settingsRoutes({ settings, certificates, encryption, clock, policyAction }),
      ...peopleSettingRoutes(settings),
      ...metricsTokenRoutes(tools),
      ...people.handlers.settings,
    },
    messages: messageRoutes(store, events),
    forecasts: forecastRoutes(forecasts),
    search: searchRoutes(search),
    changes: changeRoutes(changes),
    webhooks: webhookRoutes(webhooks),
    destinations: destinationRoutes(destinations, destinationGrants, people.accounts),
  };
  return {
    changes,
    settings,
    people,
    encryption,
    certificates,
    policies,
    drives,
    controllers,
    destinationGrants,
    delegatedKeys,
    objectData,
    summaries,
    accounting,
    handlers,
    /** Notes what the array has now: after a start, and when its configuration changed. */
    recordInventory: () =>
      times.recordSeen({
        drive: configuration().drives.map(driveName),
        controller: controllers.list().map(({ name }) => name),
        policy: configuration().policies.map(({ name }) => name),
      }),
    start() {
      people.start();
      policies.start();
      forecasts.start();
      capacities.start();
      accounting.start();
      replication.start();
      notifications.start();
      expiry.start();
      transitions.start();
      webhooks.deliveries.start();
      watch.start();
    },
    async stop() {
      watch.stop();
      await webhooks.deliveries.stop();
      replication.stop();
      await notifications.stop();
      await accounting.stop();
      await expiry.stop();
      await transitions.stop();
      policies.stop();
      await forecasts.stop();
      await capacities.stop();
      await people.stop();
    },
    /** After the last request is counted. */
    async finish() {
      await replication.finish();
      await accounting.finish();
    },
  };
}

function subjectOf(configuration: HostedConfiguration) {
  const { internalName, publicService } = configuration;
  const hosts = dataAddresses(configuration).map(({ host }) => host);
  return { name: internalName, hosts: publicService ? [...hosts, publicService.host] : hosts };
}

function nameServersOf(settings: ArraySettings) {
  const { nameServers: servers, nameServersDomain: domain } = settings.current().settings;
  return { servers, domain };
}

/** What is being done to storage policies; null when nothing is. */
function actionOf(reports: readonly PolicyReport[]): string | null {
  const busy = reports
    .filter(({ placement }) => (placement?.rebalance ?? null) !== null)
    .map(({ policy }) => policy.name);
  return busy.length === 0 ? null : `rebalancing ${busy.join(', ')}`;
}
