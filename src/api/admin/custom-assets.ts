import { createHash } from 'node:crypto'

import type { Reply } from '../../http/route.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { runAction } from '../core/actions.ts'
import { changedWithoutValues } from '../core/audit.ts'
import { type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { boolean, exactObject } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { pictureResponseDescription, pictureReply } from '../library/art.ts'
import {
  customAssetPath,
  type CustomAssetType,
  customAssetTypes,
  readCustomAsset
} from '../library/custom-asset-rows.ts'
import type { ReceivedPicture } from '../library/picture-body.ts'
import { pictureRoutes } from '../library/picture-routes.ts'

const path = '/api/admin/custom_assets/:asset_type'
const access = 'administer settings'
const tag = 'Settings'

/** Throws 404 for an unknown type. */
function parseType({ params }: ApiRequest): CustomAssetType {
  const type = customAssetTypes.find(each => each === params['asset_type'])
  if (!type) throw new ApiError('not-found')
  return type
}

const read = apiRoute('GET', path, access, {
  id: 'getCustomAsset',
  tag,
  summary:
    'Whether there is a picture of an operator for songs without a cover, as the icon or the background of pages',
  response: exactObject({ hasRecord: boolean, url: { type: ['string', 'null'], format: 'uri' } }),
  async handle(request, { reads: sql, config }) {
    const type = parseType(request)
    const [found] = await sql<{ hash: string }[]>`select hash from custom_assets where type = ${type}`
    const url = found ? config.BASE_URL + customAssetPath(type, found.hash) : null
    return jsonReply({ hasRecord: found !== undefined, url })
  }
})

/** Replaces a picture; null shows that of the program again. */
async function storeAsset(
  request: ApiRequest,
  services: ApiServices,
  picture: ReceivedPicture | null,
  reply: Reply
): Promise<Reply> {
  const type = parseType(request)
  const forgetting = () => {
    services.settings.forget()
    return reply
  }
  return runAction(request, services, async tx => {
    if (picture === null) {
      const { count } = await tx`delete from custom_assets where type = ${type}`
      return { audit: count > 0 ? [{ record: 'CustomAsset', id: type }] : [], reply: forgetting }
    }
    const { bytes, type: contentType } = picture
    const hash = createHash('sha256').update(bytes).digest('hex')
    await tx`
      insert into custom_assets (type, content_type, hash, bytes) values (${type}, ${contentType}, ${hash}, ${bytes})
      on conflict (type) do update
      set content_type = excluded.content_type, hash = excluded.hash, bytes = excluded.bytes`
    return {
      audit: [{ record: 'CustomAsset', id: type, changes: changedWithoutValues('file') }],
      reply: forgetting
    }
  })
}

const changes = pictureRoutes({
  path,
  access,
  tag,
  maxBytes: 5 * 2 ** 20,
  set: {
    id: 'setCustomAsset',
    summary: 'Replace a picture of pages, on all servers within a second (at most 5 MiB)'
  },
  remove: { id: 'deleteCustomAsset', summary: 'Show the picture of the program again; idempotent' },
  store: storeAsset
})

/** Any version is found; the path changes with the picture, so it is cached for long. */
const serve = apiRoute('GET', '/static/uploads/:asset', 'public', {
  id: 'getUploadedPicture',
  tag,
  summary: 'A picture that replaces one of the program',
  ...pictureResponseDescription,
  async handle({ params }, { publicReads: sql, settings }) {
    const { assets } = await settings.read()
    const { asset } = params
    const [, hash] =
      Object.entries(assets).find(([type, each]) => customAssetPath(type, each).endsWith(`/${asset}`)) ?? []
    const found = hash === undefined ? null : await readCustomAsset(sql, hash)
    const picture = found && pictureReply(found.bytes, 'public, max-age=31536000, immutable')
    if (!picture) throw new ApiError('not-found')
    return picture
  }
})

/** Covers the page, and leaves texts readable. The address is relative to this file. */
const renderBackground = (asset: string) =>
  `body {
  background:
    linear-gradient(color-mix(in srgb, var(--cw-paper) 70%, transparent) 0 0),
    url('${asset}') center / cover fixed;
}
`

const background = apiRoute('GET', '/static/uploads/:asset.css', 'public', {
  id: 'getBackgroundStyles',
  tag,
  summary: 'The style sheet of player pages with a background picture',
  response: { type: 'string' },
  contentTypes: ['text/css'],
  async handle({ params: { asset = '' } }, { settings }) {
    const { background: hash } = (await settings.read()).assets
    if (hash === undefined || !customAssetPath('background', hash).endsWith(`/${asset}`))
      throw new ApiError('not-found')
    return {
      body: renderBackground(asset),
      headers: {
        'Content-Type': 'text/css; charset=utf-8',
        'Cache-Control': 'public, max-age=31536000, immutable'
      }
    }
  }
})

export const customAssetRoutes = [read, ...changes, serve, background]
