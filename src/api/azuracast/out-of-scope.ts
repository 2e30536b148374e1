import { ApiError } from '../../platform/runtime/errors.ts'
import type { HandledRoute } from '../core/route.ts'

/**
 * A feature of AzuraCast that Cuewire does not have. Its operations are answered with 501 and not described in the
 * OpenAPI document, from which clients are generated: they would have methods that always fail.
 */
interface MissingFeature {
  /** What is missing and what to use instead: the message of the response. */
  readonly message: string
  /** Paths below `/api`, each with its methods; parameters as in routes. */
  readonly operations: Readonly<Record<string, readonly HandledRoute['method'][]>>
}

const station = '/station/:station_id'
const podcast = `${station}/podcast/:podcast_id`
const publicPodcast = `${station}/public/podcast/:podcast_id`

/** `docs/azuracast.md` lists the same features. */
const missingFeatures: readonly MissingFeature[] = [
  {
    message: 'Cuewire has no podcasts.',
    operations: {
      [`${station}/podcasts`]: ['GET', 'POST'],
      [`${station}/podcasts/playlists`]: ['GET'],
      [`${station}/podcasts/art`]: ['POST'],
      [podcast]: ['GET', 'PUT', 'DELETE'],
      [`${podcast}/art`]: ['GET', 'POST', 'DELETE'],
      [`${podcast}/batch`]: ['POST', 'PUT'],
      [`${podcast}/episodes`]: ['GET', 'POST'],
      [`${podcast}/episodes/art`]: ['POST'],
      [`${podcast}/episodes/media`]: ['POST'],
      [`${podcast}/episode/:episode_id`]: ['GET', 'PUT', 'DELETE'],
      [`${podcast}/episode/:episode_id/art`]: ['GET', 'POST', 'DELETE'],
      [`${podcast}/episode/:episode_id/media`]: ['GET', 'POST', 'DELETE'],
      [`${station}/public/podcasts`]: ['GET'],
      [publicPodcast]: ['GET'],
      [`${publicPodcast}/art`]: ['GET'],
      [`${publicPodcast}/episodes`]: ['GET'],
      [`${publicPodcast}/episode/:episode_id`]: ['GET'],
      [`${publicPodcast}/episode/:episode_id/art`]: ['GET'],
      [`${publicPodcast}/episode/:episode_id/download`]: ['GET']
    }
  },
  {
    message: 'Backups are not made through the API: use npm run backup (docs/backup.md).',
    operations: {
      '/admin/backups': ['GET'],
      '/admin/backups/run': ['POST'],
      '/admin/backups/log/:path': ['GET'],
      '/admin/backups/download/:path': ['GET'],
      '/admin/backups/delete/:path': ['DELETE']
    }
  },
  {
    message: 'Cuewire does not update itself: install the new release.',
    operations: { '/admin/updates': ['GET', 'PUT'] }
  },
  {
    message: 'Cuewire has no certificates of its own: let a reverse proxy get them.',
    operations: { '/admin/acme': ['PUT'], '/admin/acme-log/:path': ['GET'] }
  },
  {
    message:
      'Cuewire installs no other programs: install the streaming server or sound processor on its machine.',
    operations: {
      '/admin/shoutcast': ['POST', 'DELETE'],
      '/admin/rsas': ['POST', 'DELETE'],
      '/admin/rsas/license': ['POST', 'DELETE'],
      '/admin/stereo_tool': ['POST', 'DELETE']
    }
  },
  {
    message: 'Set GEO_DATABASE to the path of a database of countries instead.',
    operations: { '/admin/geolite': ['POST'] }
  },
  {
    message: 'Cuewire has no one-time passwords: register a passkey instead.',
    operations: { '/frontend/account/two-factor': ['PUT', 'DELETE'] }
  },
  {
    message: 'Cuewire has no login tokens: invite the person, or set a new password of the user.',
    operations: {
      '/admin/login_tokens': ['GET', 'POST'],
      '/admin/login_token/:id': ['GET', 'PUT', 'DELETE']
    }
  },
  {
    message: 'Cuewire does not start processes: restart it with the program that runs it.',
    operations: { '/admin/services/restart/:service': ['POST'] }
  },
  {
    message: 'Cuewire has queues and tasks that repair themselves: they cannot be cleared or run by hand.',
    operations: {
      '/admin/debug/clear-queue': ['PUT'],
      '/admin/debug/clear-queue/:queue': ['PUT'],
      '/admin/debug/sync-tasks': ['GET'],
      '/admin/debug/sync/:task': ['PUT']
    }
  },
  {
    message: 'The pages of Cuewire have no pictures of stations: embed the widget in a page of your own.',
    operations: { [`${station}/custom_assets/:type`]: ['GET', 'POST', 'DELETE'] }
  },
  {
    message:
      'Cuewire does not configure sound processors: add Stereo Tool to a copy of the Liquidsoap script.',
    operations: { [`${station}/stereo-tool-configuration`]: ['GET', 'POST', 'DELETE'] }
  },
  {
    message: 'Cuewire adds no custom code to the Liquidsoap script: edit a copy of it where Liquidsoap runs.',
    operations: { [`${station}/liquidsoap-config/import`]: ['POST'] }
  },
  {
    message: 'Cuewire has no telnet to Liquidsoap: use backend/skip, backend/disconnect and backend/restart.',
    operations: { '/admin/debug/station/:station_id/telnet': ['PUT'] }
  }
]

/** Answers operations of AzuraCast that are out of scope, before any key is checked. */
export const outOfScopeRoutes: readonly HandledRoute[] = missingFeatures.flatMap(({ message, operations }) =>
  Object.entries(operations).flatMap(([path, methods]) =>
    methods.map(method => ({
      method,
      path: `/api${path}`,
      access: 'public' as const,
      // The body is discarded, of whatever type it is.
      isStreamed: method === 'POST' || method === 'PUT',
      handle: () => {
        throw new ApiError('not-implemented', `${message} See docs/azuracast.md, "Out of scope".`)
      }
    }))
  )
)
