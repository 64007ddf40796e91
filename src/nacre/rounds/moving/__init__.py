"""In and out of a batch crawl: the files of Nutch, and the stores of the continuous crawler.

`hadoop` reads the containers of Hadoop, `nutch` what Nutch keeps in them. Nothing here needs Java.
"""
