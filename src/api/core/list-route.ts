import type { JsonSchema } from '../../model/fields/field.ts'
import { accountLevelListSchema } from '../auth/account-level-replies.ts'
import {
  type ListQuery,
  type ListSource,
  listQueryParameters,
  listResponseSchema,
  parseListQuery,
  readListPage,
  renderListReply
} from './list.ts'
import { type ApiRequest, type ApiRoute, apiRoute, type ApiOperation } from './route.ts'
import type { ApiServices } from './services.ts'

interface List<Row extends object>
  extends
    Pick<ApiOperation, 'id' | 'tag' | 'summary' | 'errors' | 'responseRecord'>,
    Pick<ApiRoute, 'needsAddress'> {
  /** The schema of a record. */
  readonly record: JsonSchema
  /** The name of the list in the response of an account-level call. */
  readonly name?: string
  readonly sort?: readonly string[]
  /** The schemas of other query parameters. */
  readonly filters?: Readonly<Record<string, JsonSchema>>
  /** Further headers of the response. */
  readonly headers?: Readonly<Record<string, string>>
  readonly open: (
    query: ListQuery,
    request: ApiRequest,
    services: ApiServices
  ) => ListSource<Row> | Promise<ListSource<Row>>
}

/** A route that returns a searchable, paged list. */
export function listRoute<Row extends object>(
  path: string,
  access: ApiRoute['access'],
  { record, name, sort = [], filters = {}, headers = {}, open, ...operation }: List<Row>
): ApiRoute {
  return apiRoute('GET', path, access, {
    ...operation,
    query: { ...listQueryParameters(sort), ...filters },
    response: name === undefined ? listResponseSchema(record) : accountLevelListSchema(name, record),
    async handle(request, services) {
      const query = parseListQuery(request, sort)
      const rows = await readListPage(request, services, query, await open(query, request, services))
      const { BASE_URL } = services.config
      const reply = renderListReply(rows, query, request, BASE_URL, name)
      return { ...reply, headers: { ...reply.headers, ...headers } }
    }
  })
}
