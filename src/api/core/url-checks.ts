import {
  findForeignTargetProblem,
  findTargetProblem,
  findUrlProblem,
  type UrlProblem
} from '../../platform/outbound/guard.ts'
import { isWebUrl, parseUrl, toNetworkList } from '../../platform/outbound/networks.ts'
import { fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import type { ApiServices } from './services.ts'

interface GuardServices {
  readonly config: Pick<ApiServices['config'], 'WEBHOOK_ALLOWED_NETWORKS'>
}

/**
 * What is wrong with the address of a song; null for a path, and for an address that may be reached. A name is looked
 * up when a playout gets the song.
 */
export function findSongUrlProblem({ config }: GuardServices, path: string): UrlProblem | null {
  return isWebUrl(path) ? findUrlProblem(path, toNetworkList(config.WEBHOOK_ALLOWED_NETWORKS)) : null
}

/**
 * Returns a function that checks a song before a playout gets it, which requests its address without a guard of its
 * own. An address that cannot be checked is a problem.
 */
export const openSongUrlGuard =
  ({ config }: GuardServices) =>
  async (path: string): Promise<UrlProblem | null> =>
    isWebUrl(path) ? findForeignTargetProblem(path, toNetworkList(config.WEBHOOK_ALLOWED_NETWORKS)) : null

/**
 * Looks up URLs that the program will request, and returns those that are not allowed as problems of their
 * fields. Text that is not a URL is skipped: the field itself reports it.
 */
export async function findTargetUrlProblems(
  { config }: ApiServices,
  targets: readonly { readonly field: string; readonly url: string }[]
): Promise<FieldError[]> {
  const allowed = toNetworkList(config.WEBHOOK_ALLOWED_NETWORKS)
  const found = await Promise.all(
    targets.map(async ({ field, url }) => {
      const refused = parseUrl(url) ? await findTargetProblem(url, allowed) : null
      return refused ? [fieldError(field, refused.code, refused.sentence)] : []
    })
  )
  return found.flat()
}
