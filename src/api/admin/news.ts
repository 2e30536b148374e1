import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import { choiceField, flagField, textField, type ValuesOf } from '../../model/fields/field.ts'
import { bodySchema, changesValidator, bodyValidator } from '../../model/fields/validators.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { maySeeDraftArticles } from '../auth/access.ts'
import { accountLevelReply, accountLevelSchema } from '../auth/account-level-replies.ts'
import { actionRoute, type ActionResult } from '../core/actions.ts'
import { type AuditEntry, toAuditedChanges } from '../core/audit.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { openQueryFilters, parseBody, parsePathTextId } from '../core/parse.ts'
import { type ApiRequest, apiRoute } from '../core/route.ts'
import { exactObject, namedSchema, string, unixSeconds } from '../core/schemas.ts'

const path = '/api/v1/main/news'
const tag = 'News'
const types = ['info', 'success', 'warning', 'danger'] as const
const idPattern = /^[A-Za-z0-9._-]{1,64}$/

const fields = {
  title: textField({ min: 1, max: 200, isTrimmed: true, about: 'The headline.', example: 'We are moving' }),
  body: textField({ max: 20_000, fallback: '', isLong: true, about: 'The article.' }),
  type: choiceField(types, { fallback: 'info', about: 'How it is presented.' }),
  is_published: flagField({ fallback: true, about: 'Whether every key may read it.' })
}
type Article = ValuesOf<typeof fields>
type ArticleRow = Article & {
  readonly article_id: string
  readonly created_at: number
  readonly updated_at: number
}

const articleValidator = bodyValidator(fields)
const articleChangesValidator = changesValidator(fields)
const filters = openQueryFilters({
  type: choiceField(types, { about: 'Only articles of this type.' }),
  is_published: flagField({ about: 'Only published, or only unpublished articles.' })
})

const columns = (sql: Sql | Tx) => sql`
  article_id, title, body, type, is_published, floor(extract(epoch from created_at))::bigint as created_at,
  floor(extract(epoch from updated_at))::bigint as updated_at`

const readOnly = {
  article_id: { ...string, pattern: idPattern.source, examples: ['we-are-moving'] },
  created_at: unixSeconds,
  updated_at: unixSeconds
}
const articleSchema = namedSchema(
  'Article',
  'A news article.',
  exactObject({
    ...readOnly,
    title: fields.title.schema,
    body: string,
    type: { ...string, enum: types },
    is_published: { type: 'boolean' }
  })
)
const record = articleSchema
const oneArticle = accountLevelSchema({ article: record })

/** Only keys that may publish articles see unpublished ones. */
function visible(sql: Sql, { caller }: ApiRequest): Fragment {
  return maySeeDraftArticles(caller?.key ?? null) ? sql`true` : sql`is_published`
}

const parseArticleId = ({ params }: ApiRequest) => parsePathTextId(params['article_id'], idPattern)

const list = listRoute(path, 'any key', {
  id: 'listArticles',
  tag,
  summary: 'All articles, newest first',
  name: 'articles',
  record,
  filters: filters.schemas,
  open(query, request, { reads: sql }) {
    const contains = containsTextFragment(sql, query.search)
    const where = Object.entries(filters.parse(request.query)).reduce(
      (all, [name, value]) => sql`${all} and ${sql(name)} = ${value}`,
      sql`where ${visible(sql, request)} and (title ${contains} or body ${contains})`
    )
    return {
      select: sql`select ${columns(sql)} from news ${where} order by news.created_at desc, article_id`,
      matching: sql`select from news ${where}`
    }
  }
})

const create = actionRoute('POST', path, 'administer settings', {
  id: 'createArticle',
  tag,
  summary: 'Create an article; its id is derived from the title',
  body: bodySchema(fields, { readOnly }),
  response: oneArticle,
  prepare(request) {
    const values = parseBody(articleValidator, request.body)
    return async tx => {
      await lockNews(tx)
      const id = await findFreeId(tx, slugify(values.title))
      return describe(null, await insert(tx, id, values))
    }
  }
})

const read = apiRoute('GET', `${path}/:article_id`, 'any key', {
  id: 'getArticle',
  tag,
  summary: 'Read an article',
  response: oneArticle,
  async handle(request, { reads: sql }) {
    const [article] = await sql<ArticleRow[]>`
      select ${columns(sql)} from news where article_id = ${parseArticleId(request)} and ${visible(sql, request)}`
    if (!article) throw new ApiError('not-found')
    return accountLevelReply({ article })
  }
})

const write = actionRoute('PUT', `${path}/:article_id`, 'administer settings', {
  id: 'editArticle',
  tag,
  summary: 'Change or create an article; omitted fields keep their values, or have the defaults',
  body: bodySchema(fields, { isPartial: true, readOnly }),
  response: oneArticle,
  prepare(request) {
    const id = parseArticleId(request)
    const values = parseBody(articleChangesValidator, request.body)
    return async tx => {
      await lockNews(tx)
      const [before] = await tx<ArticleRow[]>`
        select ${columns(tx)} from news where article_id = ${id} for update`
      return before
        ? describe(before, await update(tx, before, values))
        : describe(null, await insert(tx, id, parseBody(articleValidator, request.body)))
    }
  }
})

const remove = actionRoute('DELETE', `${path}/:article_id`, 'administer settings', {
  id: 'deleteArticle',
  tag,
  summary: 'Delete an article',
  response: accountLevelSchema(),
  prepare(request) {
    const id = parseArticleId(request)
    return async tx => {
      const [article] = await tx<
        ArticleRow[]
      >`delete from news where article_id = ${id} returning ${columns(tx)}`
      if (!article) throw new ApiError('not-found')
      return { audit: [auditArticle(article, null)], reply: accountLevelReply() }
    }
  }
})

/** Serializes creations, so that two articles do not get one id. */
async function lockNews(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('cuewire news'))`
}

function auditArticle(before: ArticleRow | null, after: ArticleRow | null): AuditEntry {
  const { article_id: id = '', title: name = '' } = after ?? before ?? {}
  return { record: 'Article', id, name, changes: toAuditedChanges(fields, before, after) }
}

/** The result of a creation (`before` is null) or an update. */
const describe = (before: ArticleRow | null, article: ArticleRow): ActionResult => ({
  audit: article === before ? [] : [auditArticle(before, article)],
  reply: accountLevelReply({ article })
})

async function insert(tx: Tx, id: string, article: Article): Promise<ArticleRow> {
  const [row] = await tx<ArticleRow[]>`
    insert into news ${tx({ article_id: id, ...article })} returning ${columns(tx)}`
  if (!row) throw new Error('insert returned no row')
  return row
}

async function update(tx: Tx, before: ArticleRow, values: Partial<Article>): Promise<ArticleRow> {
  const changed = Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !isDeepStrictEqual(value, Reflect.get(before, name)))
  )
  if (Object.keys(changed).length === 0) return before
  const [row = before] = await tx<ArticleRow[]>`
    update news set ${tx(changed)}, updated_at = now() where article_id = ${before.article_id} returning ${columns(tx)}`
  return row
}

/** Derives an id from a title: lower case, ASCII, words joined by `-`; random if no character remains. */
function slugify(title: string): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? randomBytes(8).toString('hex') : slug
}

/** Returns the id, or the first of `id-2`, `id-3`, ... that is free. */
async function findFreeId(tx: Tx, id: string): Promise<string> {
  const rows = await tx<{ id: string }[]>`
    select article_id as id from news where starts_with(article_id, ${id})`
  const taken = new Set(rows.map(row => row.id))
  if (!taken.has(id)) return id
  let number = 2
  while (taken.has(`${id}-${number}`)) number++
  return `${id}-${number}`
}

export const newsRoutes = [list, create, read, write, remove]
