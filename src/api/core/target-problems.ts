import { checkTarget } from '../../outbound/guard.ts'
import { networkList, parseUrl } from '../../outbound/networks.ts'
import type { FieldError } from '../../runtime/errors.ts'
import type { ApiServices } from './services.ts'

/**
 * What is wrong with where requests of ours would go: URLs by their field, each looked up. What is no URL at
 * all is passed over, since the field itself says so.
 */
export async function targetProblems(
  { config }: ApiServices,
  targets: readonly { readonly field: string; readonly url: string }[]
): Promise<FieldError[]> {
  const allowed = networkList(config.WEBHOOK_ALLOWED_NETWORKS)
  const found = await Promise.all(
    targets.map(async ({ field, url }) => {
      const refused = parseUrl(url) ? await checkTarget(url, allowed) : null
      return refused ? [{ field, code: refused.code, message: `${field} ${refused.sentence}` }] : []
    })
  )
  return found.flat()
}
