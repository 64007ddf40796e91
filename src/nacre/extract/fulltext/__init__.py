"""Text of documents: title, text, language and directives; nothing else makes text for an index.

Pure, and given hostile bytes: it runs in a helper process with limits of memory and time
(`indexing.text_process`). `page_text` begins it; `html`, `zipped_xml` and `slides` read one
family of types each.
"""
