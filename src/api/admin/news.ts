import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import type { Fragment, Sql, Tx } from '../../db/sql.ts'
import { choice, flag, text, type ValuesOf } from '../../fields/field.ts'
import { bodySchema, changesOf, formOf } from '../../fields/form.ts'
import { ApiError } from '../../runtime/errors.ts'
import { maySeeDrafts } from '../auth/access.ts'
import { succeeded, succeededList, successListSchema, successSchema } from '../auth/account.ts'
import { recordAudit } from '../core/audit.ts'
import { likePattern, listParameters, parseListQuery, readList } from '../core/list.ts'
import { filtersOf, parseBody } from '../core/parse.ts'
import type { ApiRequest, ApiRoute } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'

const path = '/api/v1/main/news'
const tag = 'News'
const types = ['info', 'success', 'warning', 'danger'] as const

const fields = {
  title: text({ min: 1, max: 200, isTrimmed: true, about: 'The headline.', example: 'We are moving' }),
  body: text({ max: 20_000, fallback: '', isLong: true, about: 'The article.' }),
  type: choice(types, { fallback: 'info', about: 'How it is presented.' }),
  is_published: flag({ fallback: true, about: 'Whether everybody with a key sees it.' })
}
type Article = ValuesOf<typeof fields>

const creation = formOf(fields)
const changes = changesOf(fields)
const filters = filtersOf({
  type: choice(types, { about: 'Only articles of this type.' }),
  is_published: flag({ about: 'Only articles that are published, or are not.' })
})

interface ArticleRow extends Article {
  readonly article_id: string
  readonly created_at: number
  readonly updated_at: number
}

const columns = (sql: Sql | Tx) => sql`
  article_id, title, body, type, is_published, floor(extract(epoch from created_at))::bigint as created_at,
  floor(extract(epoch from updated_at))::bigint as updated_at`

const seconds = { type: 'integer', format: 'int64', description: 'Unix seconds' }
const readOnly = {
  article_id: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$', examples: ['we-are-moving'] },
  created_at: seconds,
  updated_at: seconds
}
export const articleSchema = exactly({
  ...readOnly,
  title: fields.title.schema,
  body: { type: 'string' },
  type: { type: 'string', enum: types },
  is_published: { type: 'boolean' }
})
const record = { $ref: '#/components/schemas/Article' }
const oneArticle = successSchema({ article: record })

/** Drafts are for those who may publish them. */
function visible(sql: Sql, { caller }: ApiRequest): Fragment {
  return maySeeDrafts(caller?.key ?? null) ? sql`true` : sql`is_published`
}

/** The id a path names. Throws 404 for what can be none. */
function articleIdOf({ params }: ApiRequest): string {
  const id = params['article_id'] ?? ''
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(id)) throw new ApiError('not-found')
  return id
}

const list: ApiRoute = {
  method: 'GET',
  path,
  access: 'any key',
  operation: {
    id: 'listArticles',
    tag,
    summary: 'All articles, newest first',
    query: { ...listParameters([]), ...filters.schemas },
    answer: successListSchema('articles', record)
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const query = parseListQuery(request.query, [])
    const pattern = likePattern(query.search)
    const wanted = Object.entries(filters.parse(request.query))
    const where = wanted.reduce(
      (all, [name, value]) => sql`${all} and ${sql(name)} = ${value}`,
      sql`where ${visible(sql, request)} and (title ilike ${pattern} or body ilike ${pattern})`
    )
    const rows = await readList<ArticleRow>(request, services, query, {
      select: sql`select ${columns(sql)} from news ${where} order by news.created_at desc, article_id`,
      matching: sql`select from news ${where}`
    })
    return succeededList('articles', rows, query, request, config.BASE_URL)
  }
}

const create: ApiRoute = {
  method: 'POST',
  path,
  access: 'administer settings',
  operation: {
    id: 'createArticle',
    tag,
    summary: 'Write an article; its id is made from the title',
    body: bodySchema(fields, { readOnly }),
    answer: oneArticle
  },
  async handle(request, { sql }) {
    const article = parseBody(creation, request.body)
    return sql.begin(async tx => {
      await oneAtATime(tx)
      return succeeded({
        article: await insert(tx, request, await freeId(tx, slugOf(article.title)), article)
      })
    })
  }
}

const read: ApiRoute = {
  method: 'GET',
  path: `${path}/:article_id`,
  access: 'any key',
  operation: { id: 'getArticle', tag, summary: 'Read an article', answer: oneArticle },
  async handle(request, { reads: sql }) {
    const [article] = await sql<ArticleRow[]>`
      select ${columns(sql)} from news where article_id = ${articleIdOf(request)} and ${visible(sql, request)}`
    if (!article) throw new ApiError('not-found')
    return succeeded({ article })
  }
}

const write: ApiRoute = {
  method: 'PUT',
  path: `${path}/:article_id`,
  access: 'administer settings',
  operation: {
    id: 'editArticle',
    tag,
    summary: 'Change an article, or write it; what the body leaves out stays, or is the default',
    body: bodySchema(fields, { isPartial: true, readOnly }),
    answer: oneArticle
  },
  async handle(request, { sql }) {
    const id = articleIdOf(request)
    const asked = parseBody(changes, request.body)
    return sql.begin(async tx => {
      await oneAtATime(tx)
      const [before] = await tx<
        ArticleRow[]
      >`select ${columns(tx)} from news where article_id = ${id} for update`
      const article = before
        ? await update(tx, request, before, asked)
        : await insert(tx, request, id, parseBody(creation, request.body))
      return succeeded({ article })
    })
  }
}

const remove: ApiRoute = {
  method: 'DELETE',
  path: `${path}/:article_id`,
  access: 'administer settings',
  operation: { id: 'deleteArticle', tag, summary: 'Delete an article', answer: successSchema() },
  async handle(request, { sql }) {
    const id = articleIdOf(request)
    await sql.begin(async tx => {
      const { count } = await tx`delete from news where article_id = ${id}`
      if (count === 0) throw new ApiError('not-found')
      await recordAudit(tx, request, { record: 'Article', id })
    })
    return succeeded()
  }
}

/** Articles are few, and two that are made at once must not get one id. */
async function oneAtATime(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('cuewire news'))`
}

async function insert(tx: Tx, request: ApiRequest, id: string, article: Article): Promise<ArticleRow> {
  const [row] = await tx<ArticleRow[]>`
    insert into news ${tx({ article_id: id, ...article })} returning ${columns(tx)}`
  if (!row) throw new Error('insert gave no row')
  await recordAudit(tx, request, { record: 'Article', id, fields: Object.keys(article) })
  return row
}

async function update(tx: Tx, request: ApiRequest, before: ArticleRow, asked: Partial<Article>) {
  const changed = Object.entries(asked).filter(
    ([name, value]) => !isDeepStrictEqual(value, Reflect.get(before, name))
  )
  if (changed.length === 0) return before
  const [row] = await tx<ArticleRow[]>`
    update news set ${tx(Object.fromEntries(changed))}, updated_at = now()
    where article_id = ${before.article_id} returning ${columns(tx)}`
  const names = changed.map(([name]) => name)
  await recordAudit(tx, request, { record: 'Article', id: before.article_id, fields: names })
  return row
}

/**
 * A title as an id: lower case, without accents, words joined by `-`; a random one for titles without
 * letters.
 */
export function slugOf(title: string): string {
  const plain = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '')
  return plain === '' ? randomBytes(8).toString('hex') : plain
}

/** The id, or the first of `id-2`, `id-3`, ... that is free. */
async function freeId(tx: Tx, id: string): Promise<string> {
  const rows = await tx<{ id: string }[]>`
    select article_id as id from news where starts_with(article_id, ${id})`
  const taken = new Set(rows.map(row => row.id))
  if (!taken.has(id)) return id
  let number = 2
  while (taken.has(`${id}-${number}`)) number++
  return `${id}-${number}`
}

export const newsRoutes = [list, create, read, write, remove]
