import { isJsonBody, omitMembers, type RecordDialect } from './record-dialect.ts'

type RoleRow = { readonly is_builtin: boolean; readonly users: number }

export const role: RecordDialect<RoleRow> = {
  computed: ['id', 'is_super_admin', 'links'],
  render: rows => rows.map(row => omitMembers(row, ['is_builtin', 'users'])),
  parse(body) {
    const { permissions } = body
    if (!isJsonBody(permissions)) return body
    const { station, ...others } = permissions
    if (!isJsonBody(station)) return body
    // By id of the station; each may have the form of the list as well.
    const list = Object.entries(station).map(([id, names]) =>
      isJsonBody(names) ? names : { id: Number(id), permissions: names }
    )
    return { ...body, permissions: { ...others, station: list } }
  }
}
