import type { PortalHandlers } from '../handlers.ts';
import type { SettingService } from './service.ts';

export function settingRoutes(settings: SettingService): PortalHandlers {
  return {
    settings: {
      getLogLevel: () => ({ log_level: settings.logLevel }),
      setLogLevel: async ({ log_level: level }, { actor }) => {
        await settings.setLogLevel(level, actor);
        return {};
      },
      getArrayRetention: () => ({ retention_hours: settings.arrayRetentionHours }),
      setArrayRetention: async ({ retention_hours: hours }, { actor }) => {
        await settings.setArrayRetention(hours, actor);
        return {};
      },
      getNetworksPerUser: () => ({ networks_per_user: settings.networksPerUser }),
      setNetworksPerUser: async ({ networks_per_user: count }, { actor }) => {
        await settings.setNetworksPerUser(count, actor);
        return {};
      },
    },
  };
}
