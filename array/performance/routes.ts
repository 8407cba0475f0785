import type { ArrayHandlers } from '../handlers.ts';
import type { PerformanceService } from './service.ts';

/** The part of the controllers' endpoints that returns measurements. */
export function controllerPerformanceRoutes(
  performance: PerformanceService,
): Pick<ArrayHandlers<'controllers'>, 'performance' | 'cachePerformance' | 'cacheStats'> {
  return {
    performance: ({ id, interval }) => {
      const usages = performance.controllerPoints(id, interval);
      return { vcontroller_name: id, usages, count: usages.length };
    },
    cachePerformance: ({ id, interval }) => {
      const usages = performance.cachePoints(id, interval);
      return { zcache_name: id, zcache_usages: usages, count: usages.length };
    },
    cacheStats: ({ id, interval }) => {
      const usages = performance.cachePoints(id, interval);
      return { zcache_name: id, usages, count: usages.length };
    },
  };
}
