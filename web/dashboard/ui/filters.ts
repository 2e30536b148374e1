import { html } from 'lit'

interface FilterField {
  readonly name: string
  readonly label: string
  readonly type: 'search' | 'date' | 'text'
}

interface FilterChoice {
  readonly name: string
  readonly label: string
  /** Values and their texts. */
  readonly options: readonly (readonly [value: string, text: string])[]
}

export type Filter = FilterField | FilterChoice

/** The values of filters by name; '' is not set. */
export type FilterValues = Readonly<Record<string, string>>

const debounceMs = 250
const timers = new WeakMap<EventTarget, ReturnType<typeof setTimeout>>()

/**
 * A form of filters that apply as they change. `id` is unique on the page. `onChange` gets the values of all
 * filters.
 */
export function filtersView(
  id: string,
  label: string,
  filters: readonly Filter[],
  onChange: (values: FilterValues) => void
) {
  const apply = (form: HTMLFormElement) =>
    onChange(
      Object.fromEntries(
        [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value.trim() : ''])
      )
    )
  const onInput = ({ currentTarget: form }: Event) => {
    if (!(form instanceof HTMLFormElement)) return
    clearTimeout(timers.get(form))
    timers.set(
      form,
      setTimeout(() => apply(form), debounceMs)
    )
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    onInput(event)
  }
  return html`<form class="filters" aria-label=${label} @input=${onInput} @submit=${onSubmit}>
    ${filters.map(
      filter =>
        html`<div class="filter">
          <label for="${id}-${filter.name}">${filter.label}</label>
          ${'options' in filter ? selectView(id, filter) : inputView(id, filter)}
        </div>`
    )}
  </form>`
}

const inputView = (id: string, { name, type }: FilterField) =>
  html`<input
    class="field"
    id="${id}-${name}"
    name=${name}
    type=${type}
    maxlength="200"
    autocomplete="off"
  />`

const selectView = (id: string, { name, options }: FilterChoice) =>
  html`<select class="field" id="${id}-${name}" name=${name}>
    ${options.map(([value, text]) => html`<option value=${value}>${text}</option>`)}
  </select>`
