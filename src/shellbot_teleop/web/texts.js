// SPDX-License-Identifier: MIT
// Texts in the operator's language, with values in their {fields}.

import { TEXTS } from "./catalogue.js"; // made by the page server: from English

export function tr(text, values = {}) {
  return (TEXTS[text] || text).replace(/\{(\w+)\}/g, (field, name) => (name in values ? values[name] : field));
}
